import { type Call, callOf, expectedText } from '../http/call.ts'
import { startPinned } from '../pinned-process.ts'
import { measureRounds, medianOf } from '../alternating-rounds.ts'
import { checkAnswer, cpuOfCall, type Load, type MeasuredServer, startMeasured } from './call-cost.ts'
import type { Chart } from './chart.ts'

const sizes: readonly (readonly [string, number])[] = [
  ['1 KB', 1e3],
  ['10 KB', 1e4],
  ['100 KB', 1e5],
  ['1 MB', 1e6],
  ['4 MB', 4e6],
]

interface Target {
  readonly name: string
  readonly server: MeasuredServer
  readonly call: Call
}

/** Measures the CPU of a call by the length of one text in its arguments. */
export async function measureArguments(rounds: number): Promise<Chart> {
  const load: Load = await startPinned('http/load.js', 1)
  const floor = await startMeasured('http/floor-server.js')
  const ours = await startMeasured('growth/sized-server.js')
  try {
    const targets = sizes.flatMap(([label, length]): readonly Target[] => {
      const text = `${expectedText}. `.repeat(length).slice(0, length)
      const call = callOf('tools/call', { name: 'measure_text', arguments: { text } }, `${length} characters`)
      return [
        { name: `floor ${label}`, server: floor, call: { ...call, expected: expectedText } },
        { name: `ours ${label}`, server: ours, call },
      ]
    })
    for (const { server, call } of targets) {
      await checkAnswer(server, call)
      await cpuOfCall(load, server, { call, connections: 4, seconds: 1 })
    }
    const measured = await measureRounds(targets, rounds, ({ server, call }) =>
      cpuOfCall(load, server, { call, connections: 4, seconds: 1 }),
    )
    const millisecondsOf = (name: string): readonly number[] =>
      sizes.map(([label]) => medianOf(measured, `${name} ${label}`, (cpu) => cpu / 1000))
    return {
      title: 'CPU of a call in ms, by a text in its arguments',
      sizes: sizes.map(([label]) => label),
      logarithmic: true,
      lines: [
        { name: 'these packages', values: millisecondsOf('ours') },
        { name: 'bare node:http', values: millisecondsOf('floor') },
      ],
    }
  } finally {
    await Promise.all([load, floor.process, ours.process].map((child) => child.stop()))
  }
}
