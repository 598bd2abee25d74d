import type { Client } from '@x/client'

// #region listen
export async function showTools(client: Client, show: (names: readonly string[]) => void): Promise<void> {
  for await (const event of client.listen({ toolsListChanged: true })) {
    if (event.type === 'interrupted') continue
    const tools = await client.listTools()
    show(tools.map(({ name }) => name))
    if (tools.length === 0) break
  }
}
// #endregion

// #region resources
export async function follow(client: Client, uris: readonly string[], tell: (line: string) => void): Promise<void> {
  const filter = { resourceSubscriptions: uris }
  const options = { signal: AbortSignal.timeout(3_600_000), reopen: { maxPauseMs: 10_000, attempts: 20 } }
  for await (const event of client.listen(filter, options)) {
    if (event.type === 'opened') {
      const { resourceSubscriptions: heard = [] } = event.notifications
      tell(`listening to ${heard.join()}${event.mayHaveMissedChanges ? ', and something may have changed' : ''}`)
    }
    if (event.type === 'resourceUpdated') tell(`${event.uri} is another now`)
    if (event.type === 'interrupted') tell(event.error ? event.error.message : 'the server ended the stream')
  }
}
// #endregion

// #region fresh
export async function serveUser(client: Client, work: () => Promise<void>): Promise<void> {
  await using _ = client.keepFresh({ resources: true })
  await work()
}
// #endregion
