import { type Client, createClient, type TypesOf } from '@x/client'
import type { Connection } from '@x/exchange'
import { connectHttp } from '@x/transport-http/client'
import { server } from './server.ts'

export const local = createClient(server, { name: 'host', version: '1.0.0' })

export async function divideOne(divisor: number): Promise<number | undefined> {
  const { structuredContent } = await local.tools.divide({ dividend: 1, divisor })
  return structuredContent?.quotient
}

export async function listRemoteTools(url: string): Promise<readonly string[]> {
  await using connection = connectHttp(url, { headers: { Authorization: 'Bearer secret-of-ada' } })
  const client = createClient(connection, { name: 'host', version: '1.0.0' })
  const tools = await client.listTools()
  return tools.map(({ name }) => name)
}

// #region typed-remote
/** The repository of the server publishes this interface. */
export interface GuideTypes extends TypesOf<typeof server> {}

export const connectGuide = (connection: Connection): Client<GuideTypes> =>
  createClient<GuideTypes>(connection, { name: 'host', version: '1.0.0' })
// #endregion

// #region call
export async function copyFiles(client: Client<GuideTypes>, files: string[]): Promise<void> {
  await client.tools.copy(
    { files },
    {
      signal: AbortSignal.timeout(30_000),
      onProgress: ({ progress, total }) => process.stdout.write(`${progress} of ${total ?? '?'}\n`),
    },
  )
}
// #endregion
