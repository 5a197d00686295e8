# The program alone, in an image without a shell. Memory is in the volume /data.
#
#   docker build -t daybook .
#   docker run --network host -v daybook:/data daybook             # serves HTTP on this machine's loopback address
#   docker run -v daybook:/data -v "$PWD:/in:ro" daybook import /in   # imports a folder of sessions

FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
# The toolchain of the image is the one that rust-toolchain.toml names; its further components are not needed here.
RUN rm rust-toolchain.toml && cargo build --release --locked -p daybook-app && mkdir /data

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /src/target/release/daybook /usr/local/bin/daybook
COPY --from=build /src/LICENSE-APACHE /src/LICENSE-MIT /usr/share/doc/daybook/
COPY --from=build --chown=nonroot:nonroot /data /data
ENV DAYBOOK_HOME=/data
VOLUME /data
EXPOSE 8765
ENTRYPOINT ["/usr/local/bin/daybook"]
CMD ["serve", "--no-follow"]
