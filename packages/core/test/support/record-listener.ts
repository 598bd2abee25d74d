import { expect, onTestFinished } from 'vitest'
import type { Change, ChangeBus, ChangeListener } from '../../src/bus/change-bus.ts'

/** A listener and the notifications that it received: changes, and `gap` for each gap. */
export interface RecordedListener {
  readonly received: readonly (Change | 'gap')[]
  readonly topics: () => readonly string[]
  readonly stop: () => void
}

/** Adds a listener until its test ends: one that a failed test leaves open would make the tests after it fail. */
export async function listenInTest(bus: ChangeBus, listener: ChangeListener): Promise<() => void> {
  const stop = await bus.listen(listener)
  onTestFinished(stop)
  return stop
}

/** Adds a listener that records its notifications, until its test ends. */
export async function recordListener(bus: ChangeBus): Promise<RecordedListener> {
  const received: (Change | 'gap')[] = []
  const record = { onChange: (change: Change) => received.push(change), onGap: () => received.push('gap') }
  const stop = await listenInTest(bus, record)
  return { received, stop, topics: () => received.map((one) => (one === 'gap' ? one : one.topic)) }
}

let markerCount = 0

/**
 * Publishes a unique change and waits until all listeners have received it. Delivery keeps the order, so earlier
 * changes have arrived by then or are lost.
 */
export async function publishMarker(bus: ChangeBus, listeners: readonly RecordedListener[]): Promise<string> {
  const marker = `marker-${++markerCount}`
  await bus.publish({ topic: marker })
  for (const { topics } of listeners) await expect.poll(topics, { interval: 5 }).toContain(marker)
  return marker
}
