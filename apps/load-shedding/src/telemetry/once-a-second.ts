import { type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace-base'

const intervalMs = 1000

/** Creates a sampler that samples at most one trace per second, so that telemetry adds little to the load. */
export function sampleOnceASecond(now: () => number = () => performance.now()): Sampler {
  let nextAt = Number.NEGATIVE_INFINITY
  return {
    shouldSample() {
      const time = now()
      if (time < nextAt) return { decision: SamplingDecision.NOT_RECORD }
      nextAt = time + intervalMs
      return { decision: SamplingDecision.RECORD_AND_SAMPLED }
    },
    toString: () => 'once a second',
  }
}
