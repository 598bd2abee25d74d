import { type Counter, type Histogram, metrics, type UpDownCounter } from '@opentelemetry/api'
import { durationBounds, metricNames } from '@x/schema/internal'

/** The name under which spans and metrics are created. */
export const scopeName = '@x/server'

/** The instruments of a server. */
export interface Instruments {
  readonly duration: Histogram
  readonly runs: Counter
  readonly rounds: Histogram
  readonly questions: Counter
  readonly answers: Counter
  readonly handOffs: Counter
  readonly statesRejected: Counter
  readonly refused: Counter
  readonly stateSize: Histogram
  readonly streams: UpDownCounter
  readonly attemptDuration: Histogram
  readonly waitDuration: Histogram
  readonly takeovers: Counter
}

/** Creates the instruments, with the meter provider that is registered now. */
export function createInstruments(): Instruments {
  const meter = metrics.getMeter(scopeName)
  const createDuration = (name: string, description: string): Histogram =>
    meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: [...durationBounds] } })
  return {
    duration: createDuration(metricNames.serverDuration, 'The duration of requests'),
    runs: meter.createCounter(metricNames.runs, { description: 'Runs of handlers that have ended' }),
    rounds: meter.createHistogram(metricNames.rounds, {
      description: 'The requests of calls that have ended',
      advice: { explicitBucketBoundaries: [1, 2, 3, 5, 10, 20] },
    }),
    questions: meter.createCounter(metricNames.questions, { description: 'Questions to clients' }),
    answers: meter.createCounter(metricNames.answers, { description: 'Answers of clients' }),
    handOffs: meter.createCounter(metricNames.handOffs, { description: 'Calls that left this instance' }),
    statesRejected: meter.createCounter(metricNames.statesRejected, { description: 'States that were rejected' }),
    refused: meter.createCounter(metricNames.refused, { description: 'Requests and calls that were refused' }),
    stateSize: meter.createHistogram(metricNames.stateSize, {
      unit: 'By',
      description: 'The size of requestState',
      advice: { explicitBucketBoundaries: [256, 1024, 4096, 16_384, 65_536, 262_144] },
    }),
    streams: meter.createUpDownCounter(metricNames.streams, { description: 'Open streams of changes' }),
    attemptDuration: createDuration(metricNames.attemptDuration, 'The duration of attempts of tasks'),
    waitDuration: createDuration(metricNames.waitDuration, 'The time for which tasks were ready'),
    takeovers: meter.createCounter(metricNames.takeovers, { description: 'Attempts after an expired lease' }),
  }
}
