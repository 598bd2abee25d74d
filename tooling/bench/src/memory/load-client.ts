import { load } from './load.ts'
import { workloads } from './requests.ts'

/** A question of the benchmark to the load: a workload, and the number of its calls. */
export interface LoadQuestion {
  readonly url: string
  readonly work: keyof typeof workloads
  readonly count: number
}

/** The answer of the load, with the reason for an invalid measurement. */
export interface LoadAnswer {
  readonly failure?: string
}

process.once('disconnect', () => process.exit())
process.on('message', ({ url, work, count }: LoadQuestion) => {
  load({ url, work: workloads[work], count }).then(
    () => process.send?.({}),
    (error: unknown) => process.send?.({ failure: String(error) }),
  )
})
