import { ParentBasedSampler } from '@opentelemetry/sdk-trace-base'
import type { InstanceMessage } from '../instance/instance-message.ts'
import { sampleOnceASecond } from './once-a-second.ts'
import { recordTelemetry } from './record-telemetry.ts'
import type { TelemetryView } from './telemetry-view.ts'
import { createTelemetryStore } from './telemetry-store.ts'

/** The telemetry of the client in this process and of all instances. */
export interface FleetTelemetry extends Disposable {
  /** Adds the telemetry in a message of an instance. Other messages are ignored. */
  onMessage(instance: number, message: InstanceMessage): void
  view(): TelemetryView
}

/** Records the telemetry of a fleet until the result is disposed. */
export function recordFleet(): FleetTelemetry {
  const store = createTelemetryStore()
  const recording = recordTelemetry(new ParentBasedSampler({ root: sampleOnceASecond() }), {
    onSpan: (span) => store.addSpan(0, span),
    onMetrics: (metrics) => store.setMetrics(0, metrics),
  })
  return {
    onMessage(instance, message) {
      if (message.kind === 'span') store.addSpan(instance, message.span)
      if (message.kind === 'metrics') store.setMetrics(instance, message.metrics)
      // A new process has replaced the instance of this number.
      if (message.kind === 'listening') store.retire(instance)
    },
    view: () => store.view(),
    [Symbol.dispose]: () => recording[Symbol.dispose](),
  }
}
