import { runTrial, type Trial } from '@apps/load-shedding/trial'
import { reportLines, type SheddingRound } from './shedding/report.ts'

/**
 * What becomes of long calls when one of several instances is overloaded, and when all are restarted: with shedding and
 * without it.
 *
 * Method: three instances of `apps/load-shedding` behind Node's cluster count primes, in chunks with a checkpoint after
 * each. Calls of independent clients come at random, one in four of them heavy, the same in both trials of a round;
 * together they keep the cores busy a quarter of the time. The first instance stands still for nine tenths of the time,
 * for 20 seconds (with `--quick` 6); then every instance is stopped and started in turn, with one second of notice and
 * one of grace. Who gets no result calls again from the beginning. p50 and p99 are of the calls that were sent during
 * the overload, each to its end. Not measured: TLS, the network, other balancers, work that waits in place of
 * computing.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const [count, overloadedMs] = quick ? [1, 6_000] : [3, 20_000]
  const rounds: SheddingRound[] = []
  let callMs: number | undefined
  for (let round = 0; round < count; round++) {
    const trial = async (sheds: boolean): Promise<Trial> => {
      const options = { balancer: 'cluster', size: 3, port: 0, sheds, overloadedMs, seed: round + 1, callMs } as const
      const measured = await runTrial(options)
      // Every trial has the load of the first one.
      callMs = measured.callMs
      if (measured.wrong > 0) throw new Error('a call came to a wrong result, so that the numbers would mean nothing')
      return measured
    }
    const sheddingFirst = round % 2 === 1 ? await trial(true) : undefined
    const without = await trial(false)
    rounds.push({ without, with: sheddingFirst ?? (await trial(true)) })
  }
  const seconds = overloadedMs / 1000
  const head = `3 instances, one overloaded for ${seconds} s, then each restarted; Node ${process.version}; rounds: ${count}; times are medians`
  process.stdout.write(`${[head, ...reportLines(rounds)].join('\n')}\n`)
}
