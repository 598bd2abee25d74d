import { expect } from 'vitest'
import { textOf } from './asking.ts'
import type { Peer } from './older-server-peers.ts'

/** Uses every feature of server-everything: tools, prompts, resources, progress, and questions to the host. */
export async function useServerEverything({ client, asked }: Peer): Promise<void> {
  expect((await client.discover()).capabilities).toMatchObject({ tools: {}, resources: {}, prompts: {} })
  expect(textOf(await client.callTool('echo', { message: 'hello' }))).toContain('hello')
  expect((await client.listTools()).map(({ name }) => name)).toContain('get-sum')
  expect((await client.listPrompts()).length).toBeGreaterThan(0)
  const [first] = await client.listResources()
  expect((await client.readResource(first?.uri ?? '')).contents.length).toBeGreaterThan(0)
  const steps: number[] = []
  await client.callTool(
    'trigger-long-running-operation',
    { duration: 0.4, steps: 4 },
    { onProgress: ({ progress }) => steps.push(progress) },
  )
  // The server asks for the roots 350 ms after its start. Progress during that question arrives as its latest value.
  expect(steps.at(-1)).toBe(4)
  expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b))
  expect(JSON.stringify(await client.callTool('trigger-elicitation-request'))).toContain('Ada')
  expect(textOf(await client.callTool('trigger-sampling-request', { prompt: 'say', maxTokens: 10 }))).toContain(
    'sampled',
  )
  expect(asked).toEqual([expect.any(String), 'sample'])
}
