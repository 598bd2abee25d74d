import { type Counter, type Histogram, metrics, type UpDownCounter } from '@opentelemetry/api'
import { conventions } from '@x/exchange/internal'

/** Spans and metrics are created under this name. */
export const scopeName = '@x/server'

export interface Instruments {
  readonly duration: Histogram
  /** How long a gateway's or proxy's requests to its upstreams take. */
  readonly hopDuration: Histogram
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

/** Uses the meter provider that is registered now. */
export function createInstruments(): Instruments {
  const meter = metrics.getMeter(scopeName)
  const createDuration = (name: string, description: string): Histogram =>
    meter.createHistogram(name, {
      unit: 's',
      description,
      advice: { explicitBucketBoundaries: [...conventions.durationBounds] },
    })
  return {
    duration: createDuration(conventions.metrics.serverDuration, 'The duration of requests'),
    hopDuration: createDuration(conventions.metrics.clientDuration, 'The duration of requests to upstreams'),
    runs: meter.createCounter(conventions.metrics.runs, { description: 'Runs of handlers that have ended' }),
    rounds: meter.createHistogram(conventions.metrics.rounds, {
      description: 'The rounds of questions of calls that have ended',
      advice: { explicitBucketBoundaries: [0, 1, 2, 3, 5, 10, 20] },
    }),
    questions: meter.createCounter(conventions.metrics.questions, { description: 'Questions to clients' }),
    answers: meter.createCounter(conventions.metrics.answers, { description: 'Answers of clients' }),
    handOffs: meter.createCounter(conventions.metrics.handOffs, { description: 'Calls that left this instance' }),
    statesRejected: meter.createCounter(conventions.metrics.statesRejected, {
      description: 'States that were rejected',
    }),
    refused: meter.createCounter(conventions.metrics.refused, { description: 'Requests and calls that were refused' }),
    stateSize: meter.createHistogram(conventions.metrics.stateSize, {
      unit: 'By',
      description: 'The size of requestState',
      advice: { explicitBucketBoundaries: [256, 1024, 4096, 16_384, 65_536, 262_144] },
    }),
    streams: meter.createUpDownCounter(conventions.metrics.streams, { description: 'Open streams of changes' }),
    attemptDuration: createDuration(conventions.metrics.attemptDuration, 'The duration of attempts of tasks'),
    waitDuration: createDuration(conventions.metrics.waitDuration, 'The time for which tasks were ready'),
    takeovers: meter.createCounter(conventions.metrics.takeovers, { description: 'Attempts after an expired lease' }),
  }
}
