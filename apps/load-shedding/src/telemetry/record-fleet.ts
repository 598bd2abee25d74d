import { ParentBasedSampler } from '@opentelemetry/sdk-trace-base'
import type { InstanceMessage } from '../instance/instance-message.ts'
import { sampleOnceASecond } from './once-a-second.ts'
import { recordTelemetry } from './record-telemetry.ts'
import type { TelemetryView } from './telemetry-view.ts'
import { createTraceBook } from './trace-book.ts'

/** The telemetry of the client in this process and of all instances. */
export interface FleetTelemetry extends Disposable {
  /** Takes the telemetry of an instance from its message. Other messages have none. */
  onMessage(instance: number, message: InstanceMessage): void
  view(): TelemetryView
}

/** Records the telemetry of a fleet until the result is disposed. */
export function recordFleet(): FleetTelemetry {
  const book = createTraceBook()
  const recording = recordTelemetry(new ParentBasedSampler({ root: sampleOnceASecond() }), {
    onSpan: (span) => book.addSpan(0, span),
    onMetrics: (metrics) => book.setMetrics(0, metrics),
  })
  return {
    onMessage(instance, message) {
      if (message.kind === 'span') book.addSpan(instance, message.span)
      if (message.kind === 'metrics') book.setMetrics(instance, message.metrics)
      // Another process listens in the place of this instance.
      if (message.kind === 'listening') book.retire(instance)
    },
    view: () => book.view(),
    [Symbol.dispose]: () => recording[Symbol.dispose](),
  }
}
