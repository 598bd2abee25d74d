import type { Client } from '@x/client'

// #region listen
/** Shows the names of the tools now, and again after each change, until the signal aborts. */
export async function showTools(
  client: Client,
  show: (names: readonly string[]) => void,
  signal: AbortSignal,
): Promise<void> {
  for await (const event of client.listen({ toolsListChanged: true }, { signal })) {
    if (event.type === 'interrupted') continue
    const tools = await client.listTools()
    show(tools.map(({ name }) => name))
  }
}
// #endregion

export async function serveUser(client: Client, work: () => Promise<void>): Promise<void> {
  await using _ = client.keepFresh({ resources: true })
  await work()
}
