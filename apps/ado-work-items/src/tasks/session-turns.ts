/** Schedules the work of several clients on the one session of a database. */
export interface SessionTurns<Client> {
  /** Queues work of a client. While the client has an open transaction, its work runs before that of other clients. */
  take(client: Client, work: Work): void
  /** Removes the queued work of a client. If the client has an open transaction, `rollBack` runs first. */
  leave(client: Client, rollBack: Work): void
}

/** A unit of work. Resolves to `true` if it leaves a transaction open. Must not reject. */
type Work = () => Promise<boolean>

/** Creates the schedule of a session without an open transaction. */
export function createTurns<Client>(): SessionTurns<Client> {
  let waiting: { readonly client: Client; readonly work: Work }[] = []
  let holder: { readonly client: Client } | undefined
  let busy = false

  const next = () => {
    const index = waiting.findIndex(({ client }) => holder === undefined || holder.client === client)
    return index < 0 ? undefined : waiting.splice(index, 1)[0]
  }
  const run = async (): Promise<void> => {
    if (busy) return
    busy = true
    for (let turn = next(); turn !== undefined; turn = next()) {
      const { client, work } = turn
      holder = { client }
      if (!(await work())) holder = undefined
    }
    busy = false
  }
  const take = (client: Client, work: Work): void => {
    waiting.push({ client, work })
    void run()
  }
  return {
    take,
    leave: (client, rollBack) => {
      waiting = waiting.filter((turn) => turn.client !== client)
      if (holder?.client === client) take(client, rollBack)
    },
  }
}
