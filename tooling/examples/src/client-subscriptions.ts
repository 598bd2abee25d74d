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

// #region fresh
export async function serveUser(client: Client, work: () => Promise<void>): Promise<void> {
  await using _ = client.keepFresh({ resources: true })
  await work()
}
// #endregion
