import { type Counter, type Histogram, metrics } from '@opentelemetry/api'
import { conventions } from '@x/exchange/internal'

/** Spans and metrics are created under this name. */
export const scopeName = '@x/server'

/** They use the meter provider that is registered when they are made. */
export class Instruments {
  readonly #meter = metrics.getMeter(scopeName)
  readonly duration = this.#createDuration(conventions.metrics.serverDuration, 'The duration of requests')
  /** How long a gateway's or proxy's requests to its upstreams take. */
  readonly hopDuration = this.#createDuration(
    conventions.metrics.clientDuration,
    'The duration of requests to upstreams',
  )
  readonly runs = this.#createCounter(conventions.metrics.runs, 'Runs of handlers that have ended')
  readonly rounds = this.#meter.createHistogram(conventions.metrics.rounds, {
    description: 'The rounds of questions of calls that have ended',
    advice: { explicitBucketBoundaries: [0, 1, 2, 3, 5, 10, 20] },
  })
  readonly questions = this.#createCounter(conventions.metrics.questions, 'Questions to clients')
  readonly answers = this.#createCounter(conventions.metrics.answers, 'Answers of clients')
  readonly handOffs = this.#createCounter(conventions.metrics.handOffs, 'Calls that left this instance')
  readonly statesRejected = this.#createCounter(conventions.metrics.statesRejected, 'States that were rejected')
  readonly refused = this.#createCounter(conventions.metrics.refused, 'Requests and calls that were refused')
  readonly stateSize = this.#meter.createHistogram(conventions.metrics.stateSize, {
    unit: 'By',
    description: 'The size of requestState',
    advice: { explicitBucketBoundaries: [256, 1024, 4096, 16_384, 65_536, 262_144] },
  })
  readonly streams = this.#meter.createUpDownCounter(conventions.metrics.streams, {
    description: 'Open streams of changes',
  })
  readonly attemptDuration = this.#createDuration(
    conventions.metrics.attemptDuration,
    'The duration of attempts of tasks',
  )
  readonly waitDuration = this.#createDuration(conventions.metrics.waitDuration, 'The time for which tasks were ready')
  readonly takeovers = this.#createCounter(conventions.metrics.takeovers, 'Attempts after an expired lease')

  #createCounter(name: string, description: string): Counter {
    return this.#meter.createCounter(name, { description })
  }

  #createDuration(name: string, description: string): Histogram {
    const advice = { explicitBucketBoundaries: [...conventions.durationBounds] }
    return this.#meter.createHistogram(name, { unit: 's', description, advice })
  }
}
