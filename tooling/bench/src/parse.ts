import { methods, parseMessage, type RpcRequest, requestMetaOf } from '@x/schema'
import { paramsValidators } from '@x/schema/zod'
import { median } from './median.ts'

/**
 * Measures the steps from the text of a `tools/call` to its checked params, in microseconds per call on one thread.
 *
 * Method: each step runs alone in one process, over 16 texts that differ in their id and one argument, so that neither
 * a cached string nor a folded constant is measured. After a warm-up a step runs in rounds of a fixed time. The result
 * is the median of the rounds. Steps alternate, so that a slow period of the machine affects all of them. The baseline
 * is `JSON.parse` of the same texts, and ratios are formed within one run. Not measured: sockets, headers, the handler,
 * and garbage collection outside a round.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const rounds = quick ? 5 : 25
  const milliseconds = quick ? 20 : 100
  for (const [title, filler] of [
    ['a small call', ''],
    ['a call with 20 KB of text', 'One line of a document, "quoted" here and there.\n'.repeat(390)],
    ['a call with 20 KB of numbers', Array.from({ length: 3000 }, (_, at) => at * 7919)],
  ] as const) {
    const texts = Array.from({ length: 16 }, (_, id) => callText(id, filler))
    process.stdout.write(`\n${title}: ${Buffer.byteLength(texts[0] ?? '')} bytes\n`)
    report(measure(stepsFor(texts), { rounds, milliseconds }))
  }
}

function callText(id: number, filler: string | readonly number[]): string {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'example-client', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    progressToken: `p-${id}`,
  }
  const params = { name: 'get_weather', arguments: { location: `Seattle ${id}`, filler }, _meta }
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
}

interface Step {
  readonly name: string
  readonly call: (index: number) => unknown
}

function stepsFor(texts: readonly string[]): readonly Step[] {
  const parsed = texts.map((text) => parseMessage(text) as RpcRequest)
  const text = (index: number): string => texts[index & 15] ?? ''
  const params = (index: number): RpcRequest['params'] => parsed[index & 15]?.params
  const row = methods['tools/call']
  const validator = paramsValidators['tools/call']
  return [
    { name: 'JSON.parse alone', call: (index) => JSON.parse(text(index)) },
    { name: 'parseMessage', call: (index) => parseMessage(text(index)) },
    { name: 'requestMetaOf', call: (index) => requestMetaOf(params(index)) },
    { name: 'params checked by hand, _meta included', call: (index) => row.params(params(index)) },
    { name: 'params validated by zod, _meta included', call: (index) => validator.parse(params(index)) },
  ]
}

interface Result {
  readonly name: string
  readonly microseconds: number
}

function measure(
  steps: readonly Step[],
  { rounds, milliseconds }: { readonly rounds: number; readonly milliseconds: number },
): readonly Result[] {
  for (const step of steps) round(step, milliseconds)
  const times = steps.map((): number[] => [])
  for (let at = 0; at < rounds; at++) {
    for (const [index, step] of steps.entries()) times[index]?.push(round(step, milliseconds))
  }
  return steps.map(({ name }, index) => ({ name, microseconds: median(times[index] ?? []) }))
}

/** Runs one step for some milliseconds, and returns the microseconds per call. */
function round({ call }: Step, milliseconds: number): number {
  let calls = 0
  let seen = 0
  const start = performance.now()
  let now = start
  while (now - start < milliseconds) {
    for (let index = 0; index < 64; index++) if (call(index) !== undefined) seen++
    calls += 64
    now = performance.now()
  }
  if (seen !== calls) throw new Error('a step returned undefined, so it may not have run')
  return ((now - start) * 1000) / calls
}

function report(results: readonly Result[]): void {
  const [baseline] = results
  for (const { name, microseconds } of results) {
    const ratio = microseconds / (baseline?.microseconds ?? microseconds)
    process.stdout.write(
      `  ${name.padEnd(42)}${microseconds.toFixed(2).padStart(9)} µs ${ratio.toFixed(2).padStart(7)}x\n`,
    )
  }
}
