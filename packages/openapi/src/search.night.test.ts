import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Tool } from '@x/server'
import { expect, test } from 'vitest'
import { connect, queries, readSearchedTools, search } from './testing/searched-tools.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
const usedHeap = (): number => (collectGarbage(), process.memoryUsage().heapUsed)

/** Returns milliseconds of CPU. */
async function measureCpu(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Copies stand in for more tools. Each has a name of its own, so that the index reads it as another tool. */
const copy = (tools: readonly Tool[], count: number): readonly Tool[] =>
  Array.from({ length: count }, (_, at) => tools.map((each) => ({ ...each, name: `${each.name}_${at + 1}` }))).flat()

const three = ['github', 'digitalocean', 'slack']

// The bounds are twice what is wanted, 300 and 2 ms: other tests of the night run beside this one.
test.for([
  { count: 1983, documents: three, copies: 1, maxMs: { index: 600, query: 4 } },
  { count: 2991, documents: [...three, 'kubernetes'], copies: 1 },
  { count: 9915, documents: three, copies: 5 },
])('the index and the queries of $count tools', async ({ count, documents, copies, maxMs }, { annotate }) => {
  const tools = copy(readSearchedTools(documents).tools, copies)
  expect(tools.length).toBe(count)
  const client = connect(tools)
  const send = async (): Promise<void> => {
    for (const { query } of queries) await search(client, query)
  }
  await client.listTools()
  const heap = usedHeap()
  const index = await measureCpu(() => search(client, 'first'))
  const megabytes = (usedHeap() - heap) / 1e6
  // A server that has just started compiles code meanwhile.
  await send()
  const query = (await measureCpu(send)) / queries.length
  await annotate(
    `index ${index.toFixed(0)} ms, query ${query.toFixed(1)} ms of CPU, ${megabytes.toFixed(1)} MB of heap`,
  )
  expect(index).toBeLessThan(maxMs?.index ?? Infinity)
  expect(query).toBeLessThan(maxMs?.query ?? Infinity)
})
