import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Tool } from '@x/schema'
import type { CallView, MessageView, QuestionView, ServerState, StampedEvent } from '../../../src/dev/events.ts'
import type { ArmedFault, FaultKind } from '../../../src/dev/wire/fault.ts'

/** The page's connection to the command. */
export type Link = 'connecting' | 'live' | 'lost' | 'refused'

/** One line of the timeline of a call. */
export type TimelineEntry =
  | { readonly type: 'message'; readonly seq: number; readonly at: number; readonly message: MessageView }
  | { readonly type: 'note'; readonly seq: number; readonly at: number; readonly text: string }

/** One line that the server has written, or a note about no call. */
export interface OutputEntry {
  readonly seq: number
  readonly pid: number | undefined
  readonly text: string
}

/** What the command has reported. */
export interface DevState {
  readonly link: Signal<Link>
  readonly server: ReadonlySignal<ServerState | undefined>
  readonly tools: ReadonlySignal<readonly Tool[] | undefined>
  readonly toolsProblem: ReadonlySignal<string | undefined>
  readonly armed: ReadonlySignal<ArmedFault | undefined>
  readonly faultKinds: ReadonlySignal<readonly FaultKind[]>
  /** The calls, the latest first. */
  readonly calls: ReadonlySignal<readonly CallView[]>
  readonly questions: ReadonlySignal<readonly QuestionView[]>
  readonly output: ReadonlySignal<readonly OutputEntry[]>
  timelineOf(callId: number): readonly TimelineEntry[]
  take(events: readonly StampedEvent[]): void
  /** Forgets everything, before the events of another command. */
  clear(): void
}

const maxLines = 2000

/** Creates the state of a page that has received nothing. */
export function createDevState(): DevState {
  const signals = createSignals()
  const { callById, questionById, timeline, output, tools, ...others } = signals
  return {
    ...others,
    tools,
    output,
    calls: computed(() => [...callById.value.values()].toSorted((one, other) => other.id - one.id)),
    questions: computed(() => [...questionById.value.values()]),
    timelineOf: (callId) => timeline.value.filter((entry) => entry.callId === callId),
    take: (events) =>
      batch(() => {
        for (const event of events) takeEvent(signals, event)
      }),
    clear: () =>
      batch(() => {
        tools.value = undefined
        callById.value = new Map()
        questionById.value = new Map()
        timeline.value = []
        output.value = []
      }),
  }
}

type Signals = ReturnType<typeof createSignals>

function createSignals() {
  return {
    link: signal<Link>('connecting'),
    server: signal<ServerState | undefined>(undefined),
    tools: signal<readonly Tool[] | undefined>(undefined),
    toolsProblem: signal<string | undefined>(undefined),
    armed: signal<ArmedFault | undefined>(undefined),
    faultKinds: signal<readonly FaultKind[]>([]),
    callById: signal<ReadonlyMap<number, CallView>>(new Map()),
    questionById: signal<ReadonlyMap<number, QuestionView>>(new Map()),
    timeline: signal<readonly (TimelineEntry & { readonly callId: number | undefined })[]>([]),
    output: signal<readonly OutputEntry[]>([]),
  }
}

function takeEvent(signals: Signals, event: StampedEvent): void {
  const { seq, at } = event
  switch (event.type) {
    case 'server':
      signals.server.value = event.server
      break
    case 'tools':
      signals.tools.value = event.tools
      signals.toolsProblem.value = event.problem
      break
    case 'fault':
      signals.armed.value = event.armed
      signals.faultKinds.value = event.available
      break
    case 'call':
      signals.callById.value = new Map([...signals.callById.value, [event.call.id, event.call]])
      break
    case 'question':
      signals.questionById.value = withQuestion(signals.questionById.value, event.question, event.isOpen)
      break
    case 'message':
      signals.timeline.value = append(signals.timeline.value, { ...event, callId: event.message.callId })
      break
    case 'client': {
      const { callId, text } = event
      if (callId === undefined) signals.output.value = append(signals.output.value, { seq, pid: undefined, text })
      else signals.timeline.value = append(signals.timeline.value, { type: 'note', seq, at, text, callId })
      break
    }
    case 'output':
      signals.output.value = append(signals.output.value, { seq, pid: event.pid, text: event.text })
      break
  }
}

function append<T>(list: readonly T[], item: T): readonly T[] {
  return [...list.slice(-maxLines + 1), item]
}

function withQuestion(
  questions: ReadonlyMap<number, QuestionView>,
  question: QuestionView,
  isOpen: boolean,
): ReadonlyMap<number, QuestionView> {
  const others = [...questions].filter(([id]) => id !== question.id)
  return new Map(isOpen ? [...others, [question.id, question]] : others)
}
