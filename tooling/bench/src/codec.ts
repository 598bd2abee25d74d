import type { JsonValue, StateCodec } from '@x/state-codec'
import { randomKey, sealed as sealedOnNode } from '@x/state-codec'
import { median } from './median.ts'

/**
 * What it costs to seal a state and to open it again, on one thread, and how many bytes the token has more than the state.
 *
 * Method: a journal of 200 B, 2 KB, and as much as the default bound lets through, filled with random letters, bound to a principal and arguments. Node's entry and
 * the portable one (jose on Web Crypto) take turns within one run, sealing and opening one at a time, in rounds of a fixed time after a warm-up; the number is the
 * median of the rounds, and the ratio is within the run. What both open is compared with what was sealed before anything is measured. Not measured: several calls at
 * once, where Web Crypto may use more threads, and deriving the keys, which happens once a purpose.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const timing = { rounds: quick ? 5 : 25, milliseconds: quick ? 40 : 150 }
  const keys = [randomKey()]
  const codecs = [
    { name: 'node:crypto', codec: sealedOnNode({ keys }) },
    { name: 'jose', codec: (await portableEntry()).sealed({ keys }) },
  ]
  for (const [title, bytes] of [
    ['200 B', 200],
    ['2 KB', 2000],
    ['the most that fits 32 KiB', largest],
  ] as const) {
    const value = journal(bytes)
    const size = Buffer.byteLength(JSON.stringify(value))
    const tokens = await Promise.all(codecs.map(({ codec }) => checkedToken(codec, value)))
    const length = tokens[0]?.length ?? 0
    process.stdout.write(`\n${title}: ${size} bytes of JSON, a token of ${length} (${length - size} more)\n`)
    const steps = codecs.flatMap(({ name, codec }, at): readonly Step[] => [
      { name: `seal, ${name}`, call: () => codec.seal(value, claims) },
      { name: `open, ${name}`, call: () => codec.open(tokens[at] ?? '', claims) },
    ])
    report(await measure(steps, timing))
  }
}

type Entry = { readonly sealed: typeof sealedOnNode }

/** The entry for everywhere but Node, which Node itself would never be given. */
async function portableEntry(): Promise<Entry> {
  const node = import.meta.resolve('@x/state-codec')
  // A module that is imported by its address has no type of its own; both entries have the same, which a test proves.
  return (await import(node.replace(/node\.(js|ts)$/, 'index.$1'))) as Entry
}

const largest = 24_100
const claims = {
  purpose: 'tools/call',
  binding: { principal: 'ada', method: 'tools/call', target: 'update_work_item', arguments: { id: 4522 } },
}

function journal(bytes: number): JsonValue {
  const empty = { answers: { resolution: { action: 'accept', content: { note: '' } } }, steps: {} }
  const letters = randomKey().repeat(Math.ceil(bytes / 64))
  const note = letters.slice(0, bytes - JSON.stringify(empty).length)
  return { answers: { resolution: { action: 'accept', content: { note } } }, steps: {} }
}

async function checkedToken(codec: StateCodec, value: JsonValue): Promise<string> {
  const token = await codec.seal(value, claims)
  const opened = await codec.open(token, claims)
  if (JSON.stringify(opened) !== JSON.stringify(value)) throw new Error('a codec opened something else than was sealed')
  return token
}

interface Step {
  readonly name: string
  readonly call: () => Promise<unknown>
}

interface Result {
  readonly name: string
  readonly perSecond: number
}

async function measure(
  steps: readonly Step[],
  { rounds, milliseconds }: { readonly rounds: number; readonly milliseconds: number },
): Promise<readonly Result[]> {
  for (const step of steps) await round(step, milliseconds)
  const rates = steps.map((): number[] => [])
  for (let at = 0; at < rounds; at++) {
    for (const [index, step] of steps.entries()) rates[index]?.push(await round(step, milliseconds))
  }
  return steps.map(({ name }, index) => ({ name, perSecond: median(rates[index] ?? []) }))
}

/** Calls per second of one step, over some milliseconds. */
async function round({ call }: Step, milliseconds: number): Promise<number> {
  let calls = 0
  const start = performance.now()
  let now = start
  while (now - start < milliseconds) {
    for (let index = 0; index < 16; index++) await call()
    calls += 16
    now = performance.now()
  }
  return (calls * 1000) / (now - start)
}

function report(results: readonly Result[]): void {
  for (const [index, { name, perSecond }] of results.entries()) {
    // The two codecs follow one another: the other one's line of the same work is two away.
    const other = results[(index + 2) % results.length]?.perSecond ?? perSecond
    const rate = Math.round(perSecond).toLocaleString('en').padStart(9)
    const micros = (1e6 / perSecond).toFixed(1).padStart(8)
    process.stdout.write(`  ${name.padEnd(20)}${rate}/s ${micros} µs ${(perSecond / other).toFixed(2).padStart(7)}x\n`)
  }
}
