import { createCall } from '@x/exchange'
import { metaKeys, parseRequestOrNotification, protocolVersion, type RpcRequest } from '@x/schema'
import { createServer, tool } from '@x/server'
import * as z from 'zod'

// Prints what rejecting costs as a multiple of what accepting a valid input of the same bytes costs, and what twice the
// input costs as a multiple of the input. Measured from the text of a request to the result.

const names = Array.from({ length: 10 }, (_, at) => `f${at}`)
const row = z.object(Object.fromEntries(names.map((name) => [name, z.string()])))
const other = z.object({ kind: z.literal('other'), size: z.number() })
const json = {
  type: 'object',
  properties: {
    rows: {
      type: 'array',
      items: {
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
        required: names,
      },
    },
  },
}
const run = (): string => 'accepted'
const server = createServer({
  name: 'cost',
  version: '1.0.0',
  state: false,
  tools: [
    tool('array', { description: 'd', input: z.object({ rows: z.array(row) }), run }),
    tool('union', { description: 'd', input: z.object({ rows: z.array(z.union([row, other])) }), run }),
    tool('record', { description: 'd', input: z.object({ rows: z.record(z.string(), row) }), run }),
    tool('text', { description: 'd', input: z.object({ rows: z.array(z.string().regex(/^a+$/)) }), run }),
    tool('json', { description: 'd', input: json, run }),
  ],
})

const _meta = JSON.stringify({ [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {} })
const list = (items: readonly string[]): string => `[${items.join(',')}]`
const record = (items: readonly string[]): string => `{${items.map((item, at) => `"k${at}":${item}`).join(',')}}`
const request = (name: string, rows: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":{"rows":${rows}},"_meta":${_meta}}}`

const call = createCall({ signal: new AbortController().signal })

async function answer(text: string): Promise<string> {
  // The texts are requests.
  return JSON.stringify(await server.exchange(parseRequestOrNotification(text) as RpcRequest, call))
}

interface Cost {
  readonly cpu: number
  /** Bytes that were allocated, which is as much as they can be at once. */
  readonly heap: number
}

interface MeasuredRequest {
  readonly text: string
  readonly isAccepted: boolean
}

/**
 * Measures requests in turns, so that a busy moment of the machine meets all of them. Another process only adds to the
 * CPU time of a run, by caches and by the collector's threads, so the least of all runs is the cost. A collection
 * within a run may hide memory, so there the median is.
 */
async function costsOf(requests: readonly MeasuredRequest[]): Promise<Cost[]> {
  const samples = requests.map((): Cost[] => [])
  for (let round = 0; round < 15; round++) {
    for (const [index, measuredRequest] of requests.entries()) {
      const cost = await measure(measuredRequest)
      // The first ones compile.
      if (round >= 3) samples[index]?.push(cost)
    }
  }
  return samples.map((costs) => ({
    cpu: Math.min(...costs.map(({ cpu }) => cpu)),
    heap: median(costs.map(({ heap }) => heap)),
  }))
}

async function measure({ text, isAccepted }: MeasuredRequest): Promise<Cost> {
  globalThis.gc?.()
  const heap = process.memoryUsage().heapUsed
  const cpu = process.cpuUsage()
  const said = await answer(text)
  const { user, system } = process.cpuUsage(cpu)
  const used = process.memoryUsage().heapUsed - heap
  if (said.includes('accepted') !== isAccepted) throw new Error(`Not as expected: ${said.slice(0, 300)}`)
  return { cpu: user + system, heap: used }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, two) => one - two)[values.length >> 1] ?? 0
}

/** The heap grows by pages, so that smaller allocations of the same request differ by a multiple. */
const heapNoiseBytes = 1_000_000

function memoryRatio(one: Cost, other: Cost): number {
  return one.heap / Math.max(other.heap, heapNoiseBytes)
}

const whole = JSON.stringify(Object.fromEntries(names.map((name) => [name, 'abc'])))
const long = JSON.stringify(Object.fromEntries(names.map((name) => [name, 'a'.repeat(40)])))
const times = (text: string, count: number): string[] => Array<string>(count).fill(text)
/** As many as have the bytes of a text. */
const upTo = (item: string, { length }: string): string[] => times(item, Math.floor(length / (item.length + 1)))

interface Attack {
  readonly tool: string
  readonly write: (items: readonly string[]) => string
  readonly wrong: string
  readonly right: string
}

const attacks: readonly Attack[] = [
  { tool: 'array', write: list, wrong: '{}', right: whole },
  { tool: 'union', write: list, wrong: '{}', right: whole },
  { tool: 'record', write: record, wrong: '{}', right: whole },
  { tool: 'text', write: list, wrong: '"b"', right: '"a"' },
  { tool: 'json', write: list, wrong: '{}', right: whole },
]

const none: Cost = { cpu: 0, heap: 0 }
const ratios: Record<string, number> = {}
for (const { tool: name, write, wrong, right } of attacks) {
  const rejected = write(times(wrong, 8_000))
  const [once = none, twice = none, valid = none] = await costsOf([
    { text: request(name, write(times(wrong, 4_000))), isAccepted: false },
    { text: request(name, rejected), isAccepted: false },
    { text: request(name, write(upTo(right, rejected))), isAccepted: true },
  ])
  ratios[`${name}: rejected to valid, CPU`] = twice.cpu / valid.cpu
  ratios[`${name}: rejected to valid, memory`] = memoryRatio(twice, valid)
  ratios[`${name}: 2n to n, CPU`] = twice.cpu / once.cpu
  ratios[`${name}: 2n to n, memory`] = memoryRatio(twice, once)
}
// Past the bound of elements: 297 KB of nothing but missing members.
const bomb = list(times('{}', 99_000))
const [rejected = none, valid = none] = await costsOf([
  { text: request('array', bomb), isAccepted: false },
  { text: request('array', list(upTo(long, bomb))), isAccepted: true },
])
ratios['99,000 rows: rejected to valid, CPU'] = rejected.cpu / valid.cpu
ratios['99,000 rows: rejected to valid, memory'] = memoryRatio(rejected, valid)
process.stdout.write(JSON.stringify(ratios))
