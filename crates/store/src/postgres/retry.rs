//! Runs the work of a call in transactions, and tries it again where that helps.
//!
//! Not here: what a transaction sends (`connection`), how long a call may take (`call`).

use daybook_domain::StoreError;

use super::PostgresStore;
use super::call::CallState;
use super::connection::{
    FIRST_WAIT, LONGEST_WAIT, TenantAccess, Tx, TxMode, TxStart, join_in_order,
};
use super::fault::{Fault, Remedy};

impl PostgresStore {
    /// Runs `work` in one transaction that writes. `work` may run again after a rollback; its writes are kept
    /// once, or not at all where this returns an error.
    pub(super) async fn write<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        access: TenantAccess<'_>,
        work: impl Fn(Tx) -> F,
    ) -> Result<T, StoreError> {
        self.retry(TxMode::Write, access, work).await
    }

    /// Runs `work` on a snapshot.
    pub(super) async fn read<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        access: TenantAccess<'_>,
        work: impl Fn(Tx) -> F,
    ) -> Result<T, StoreError> {
        self.retry(TxMode::Read, access, work).await
    }

    /// Begins a transaction over all tenants that its caller ends, and runs `statements` first. It is not tried
    /// again.
    pub(super) async fn begin(&self, statements: &str) -> Result<Tx, StoreError> {
        let begin = format!("{}; {statements}", self.start_of_all().statements());
        let answer_limit = self.options.answer_limit(TxMode::Write);
        let begun = async {
            let tx = Tx::on(self.pool.get().await?, answer_limit);
            tx.begin_by(&begin).await?;
            Ok(tx)
        };
        begun
            .await
            .map_err(|fault: Fault| fault.into_error(&self.server))
    }

    /// The start of a transaction that may write the rows of all tenants.
    pub(super) fn start_of_all(&self) -> TxStart<'_> {
        TxStart {
            mode: TxMode::Write,
            access: TenantAccess::All,
            options: &self.options,
        }
    }

    pub(super) async fn retry<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        mode: TxMode,
        access: TenantAccess<'_>,
        work: impl Fn(Tx) -> F,
    ) -> Result<T, StoreError> {
        let call = CallState::default();
        // On the heap: each function through which a future passes contains all of it, and an append's future
        // is large enough to fill a thread's stack with such copies.
        let tries = Box::pin(self.tries(mode, access, &work, &call));
        self.within_limit(mode, &call, tries).await
    }

    async fn tries<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        mode: TxMode,
        access: TenantAccess<'_>,
        work: &impl Fn(Tx) -> F,
        call: &CallState,
    ) -> Result<T, StoreError> {
        let start = TxStart {
            mode,
            access,
            options: &self.options,
        };
        let mut wait = FIRST_WAIT;
        let mut tried = 0;
        loop {
            let fault = match self.attempt(start, work, call).await {
                Ok(done) => return Ok(done),
                Err(fault) => self.with_lock_holder(fault).await,
            };
            // A lock is waited for until the call has used up its time; its holder may have vanished, and then
            // the server ends it after a while.
            tried += u32::from(!matches!(fault, Fault::Locked(_)));
            let helps = matches!(fault.remedy(), Remedy::Again | Remedy::Reconnect);
            if !helps || tried >= self.options.tries {
                return Err(fault.into_error(&self.server));
            }
            call.note_fault(&fault);
            tokio::time::sleep(wait).await;
            wait = LONGEST_WAIT.min(wait * 2);
        }
    }

    async fn attempt<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        start: TxStart<'_>,
        work: &impl Fn(Tx) -> F,
        call: &CallState,
    ) -> Result<T, Fault> {
        let (mode, client) = (start.mode, self.pool.get().await?);
        let answer_limit = self.options.answer_limit(mode);
        let tx = match mode {
            TxMode::Read | TxMode::Write => Tx::framed(client, answer_limit),
            TxMode::Migrate => Tx::on(client, answer_limit),
        };
        // Sent together. A statement outside a transaction would have no tenant set, and would see and change
        // nothing.
        match join_in_order(tx.begin(start), work(tx.clone())).await {
            Ok(((), done)) => {
                call.set_committing(mode == TxMode::Write);
                let committed = self.commit(mode, tx).await;
                call.set_committing(false);
                committed.map(|()| done)
            }
            // The connection is closed, and with it the transaction.
            Err(fault @ Fault::Silent(_)) => Err(fault),
            Err(fault) => {
                tx.roll_back().await;
                Err(tx.with_stale(fault))
            }
        }
    }
}
