import { runTrial, type Trial } from '@apps/load-shedding/trial'
import { reportLines, type SheddingRound } from './shedding/report.ts'

/**
 * Measures the latency and the losses of long calls while one of several instances is overloaded, and while all
 * instances are restarted. It measures them with load shedding and without it.
 *
 * Method: three instances of `apps/load-shedding` behind Node's cluster count primes in chunks, with a checkpoint after
 * each chunk. Calls of independent clients arrive at random times, and one in four is heavy. Both trials of a round
 * have the same calls, which keep the cores busy a quarter of the time. The first instance is paused for nine tenths of
 * the time during 20 seconds (6 with `--quick`). Then every instance is stopped and started in turn, with one second of
 * notice and one of grace. A client without a result starts its call again. p50 and p99 are of the calls that were sent
 * during the overload, each measured to its end. Not measured: TLS, the network, other balancers, and work that waits
 * instead of computing.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const [count, overloadedMs] = quick ? [1, 6_000] : [3, 20_000]
  const rounds: SheddingRound[] = []
  let callMs: number | undefined
  for (let round = 0; round < count; round++) {
    const trial = async (sheds: boolean): Promise<Trial> => {
      const options = { balancer: 'cluster', size: 3, port: 0, sheds, overloadedMs, seed: round + 1, callMs } as const
      const measured = await runTrial(options)
      // Every trial has the load of the first trial.
      callMs = measured.callMs
      if (measured.wrong > 0) throw new Error('a call returned a wrong result, so the measurement is invalid')
      return measured
    }
    const sheddingFirst = round % 2 === 1 ? await trial(true) : undefined
    const without = await trial(false)
    rounds.push({ without, with: sheddingFirst ?? (await trial(true)) })
  }
  const seconds = overloadedMs / 1000
  const header = `3 instances, one overloaded for ${seconds} s, then each restarted; Node ${process.version}; rounds: ${count}; times are medians`
  process.stdout.write(`${[header, ...reportLines(rounds)].join('\n')}\n`)
}
