// Reads the page again when the memory has changed, and keeps where a person is. Nothing is typed over: a page with
// unsent input stays as it is.
(() => {
  const main = document.querySelector("main[data-live]");
  if (!main || !window.EventSource) return;
  let isBusy = false;
  const hasInput = () =>
    [...main.querySelectorAll("input:not([type=hidden]), textarea")].some((it) => it.value !== it.defaultValue) ||
    main.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
  const refresh = async () => {
    if (isBusy || hasInput() || document.hidden) return;
    isBusy = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" }, redirect: "error" });
      if (answer.ok) {
        const read = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = read.querySelector("main");
        if (fresh && fresh.innerHTML !== main.innerHTML) main.replaceChildren(...fresh.childNodes);
      }
    } catch {
      // The server is away; the stream connects again by itself.
    } finally {
      isBusy = false;
    }
  };
  const changes = new EventSource("/window/changes");
  let first = true;
  let waits = 0;
  changes.addEventListener("memory", () => {
    // The stream begins with the present state, which the page shows already.
    clearTimeout(waits);
    waits = setTimeout(() => { if (!first) refresh(); first = false; }, 300);
  });
  document.addEventListener("visibilitychange", refresh);
})();
