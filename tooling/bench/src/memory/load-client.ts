import { load } from './load.ts'
import { workloads } from './requests.ts'

/** What the benchmark asks of the load: to do some work so many times. */
export interface LoadQuestion {
  readonly url: string
  readonly work: keyof typeof workloads
  readonly count: number
}

/** Why the numbers would mean nothing, if they would. */
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
