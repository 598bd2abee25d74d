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

const figures = new Map<number, { readonly index: number; readonly query: number }>()

test.for([
  { count: 1983, documents: three, copies: 1 },
  { count: 2991, documents: [...three, 'kubernetes'], copies: 1 },
  { count: 9915, documents: three, copies: 5 },
])('the index and the queries of $count tools', async ({ count, documents, copies }, { annotate }) => {
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
  figures.set(count, { index, query })
})

// A cost that grows with the square would be 25 times as high. The figures themselves are those of the machine.
test('five times as many tools cost about five times as much', () => {
  const [one, five] = [figures.get(1983), figures.get(9915)]
  if (one === undefined || five === undefined) throw new Error('It needs the figures of the tests before it')
  expect(five.index / one.index).toBeLessThan(12)
  expect(five.query / one.query).toBeLessThan(12)
})
