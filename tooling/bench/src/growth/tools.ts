import { echoCall } from '../http/call.ts'
import { startPinned } from '../pinned-process.ts'
import { measureRounds, shareOf } from '../alternating-rounds.ts'
import { checkAnswer, cpuOfCall, type Load, type MeasuredServer, startMeasured } from './call-cost.ts'
import type { Chart } from './chart.ts'

interface Target extends MeasuredServer {
  readonly name: string
}

const sizes = [1, 10, 100, 1000]

/** Measures the CPU of a call of one tool, by the number of tools of the server. */
export async function measureTools(rounds: number): Promise<Chart> {
  const load: Load = await startPinned('http/load.js', 1)
  const targets: Target[] = []
  try {
    targets.push({ name: 'floor', ...(await startMeasured('http/floor-server.js')) })
    for (const size of sizes) {
      const server = await startMeasured('growth/sized-server.js', { TOOLS: String(size) })
      targets.push({ name: String(size), ...server })
    }
    for (const target of targets) {
      await checkAnswer(target, echoCall)
      await cpuOfCall(load, target, { call: echoCall, connections: 16, seconds: 3 })
    }
    const question = { call: echoCall, connections: 16, seconds: 1 }
    const measured = await measureRounds(targets, rounds, (target) => cpuOfCall(load, target, question))
    const shares = sizes.map((size) => shareOf(measured, { name: String(size), base: 'floor', of: (cpu) => cpu }))
    return {
      title: "CPU of a call of the floor's, by tools",
      sizes: sizes.map((size) => size.toLocaleString('en')),
      logarithmic: false,
      lines: [
        { name: 'these packages', values: shares },
        { name: 'bare node:http', values: sizes.map(() => 1) },
      ],
    }
  } finally {
    await Promise.all([load, ...targets.map(({ process: server }) => server)].map((child) => child.stop()))
  }
}
