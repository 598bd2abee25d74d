/** Lets several clients share the one session of a database. */
export interface SessionTurns<Client> {
  /** Has work done when it is the client's turn: before everybody else's while a transaction is the client's. */
  take(client: Client, work: Work): void
  /** Forgets what a client still wanted; `rollBack` is done first when a transaction is the client's. */
  leave(client: Client, rollBack: Work): void
}

/** Work on the session; resolves to whether it leaves a transaction open. Must not reject. */
type Work = () => Promise<boolean>

/** Opens the turns of a session that is in no transaction. */
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
