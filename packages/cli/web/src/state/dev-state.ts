import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { JsonValue } from '@x/schema'
import type {
  CallView,
  DoctorView,
  MessageView,
  PanelEvent,
  QuestionView,
  ServerLists,
  ServerState,
  StampedEvent,
  TaskView,
} from '../../../src/dev/events.ts'
import type { ArmedFault, FaultKind } from '../../../src/dev/wire/fault.ts'
import type { PageEvent } from './api.ts'

/** What stays the same while the command runs. */
export type Setup = Pick<SetupEvent, 'hosts' | 'hostUrl'>

type SetupEvent = Extract<StampedEvent, { readonly type: 'setup' }>

/** The page's connection to the command. */
export type Link = 'connecting' | 'live' | 'lost' | 'refused'

/** One line of the timeline of a call. */
export type TimelineEntry =
  | { readonly type: 'message'; readonly seq: number; readonly at: number; readonly message: MessageView }
  | { readonly type: 'note'; readonly seq: number; readonly at: number; readonly text: string }

/** One line that the server has written, or a note about no call. */
export type OutputEntry = Omit<Extract<StampedEvent, { readonly type: 'output' }>, 'type'>

/** A panel of the program, with its latest data. */
export type PanelState = SetupEvent['panels'][number] & {
  readonly data: JsonValue | undefined
  /** Why there is no more data. */
  readonly problem: string | undefined
}

/** Where the user logs in at the server, and what a call needs beyond an earlier login. */
export interface PendingLogin {
  readonly url: string
  readonly addedScopes: readonly string[]
}

/** What the command has reported. */
export interface DevState {
  readonly link: Signal<Link>
  readonly server: ReadonlySignal<ServerState | undefined>
  readonly setup: ReadonlySignal<Setup>
  readonly lists: ReadonlySignal<ServerLists | undefined>
  readonly tasks: ReadonlySignal<readonly TaskView[]>
  /** Warnings about the server as a whole. */
  readonly warnings: ReadonlySignal<readonly string[]>
  readonly login: ReadonlySignal<PendingLogin | undefined>
  readonly doctor: ReadonlySignal<DoctorView | undefined>
  readonly armed: ReadonlySignal<ArmedFault | undefined>
  readonly faultKinds: ReadonlySignal<readonly FaultKind[]>
  /** The calls, the latest first. */
  readonly calls: ReadonlySignal<readonly CallView[]>
  readonly questions: ReadonlySignal<readonly QuestionView[]>
  readonly output: ReadonlySignal<readonly OutputEntry[]>
  readonly panels: ReadonlySignal<readonly PanelState[]>
  timelineOf(callId: number): readonly TimelineEntry[]
  take(events: readonly PageEvent[]): void
  /** Forgets everything, before the events of another command. */
  clear(): void
}

const maxLines = 2000

/** Creates the state of a page that has received nothing. */
export function createDevState(): DevState {
  const signals = createSignals()
  const { callById, questionById, taskById, timeline, output, lists, ...others } = signals
  return {
    ...others,
    lists,
    warnings: computed(() => warningsIn(lists.value)),
    tasks: computed(() => [...taskById.value.values()].toReversed()),
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
        lists.value = undefined
        taskById.value = new Map()
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
    setup: signal<Setup>({ hosts: [], hostUrl: undefined }),
    lists: signal<ServerLists | undefined>(undefined),
    taskById: signal<ReadonlyMap<string, TaskView>>(new Map()),
    login: signal<PendingLogin | undefined>(undefined),
    doctor: signal<DoctorView | undefined>(undefined),
    armed: signal<ArmedFault | undefined>(undefined),
    faultKinds: signal<readonly FaultKind[]>([]),
    callById: signal<ReadonlyMap<number, CallView>>(new Map()),
    questionById: signal<ReadonlyMap<number, QuestionView>>(new Map()),
    timeline: signal<readonly (TimelineEntry & { readonly callId: number | undefined })[]>([]),
    output: signal<readonly OutputEntry[]>([]),
    panels: signal<readonly PanelState[]>([]),
  }
}

type Takers = {
  readonly [Type in PageEvent['type']]: (signals: Signals, event: Extract<PageEvent, { readonly type: Type }>) => void
}

const takers: Takers = {
  server: (signals, { server }) => {
    signals.server.value = server
    if (server.status === 'ready') signals.login.value = undefined
  },
  lists: (signals, event) => void (signals.lists.value = event.lists),
  task: ({ taskById }, { task }) => void (taskById.value = new Map([...taskById.value, [task.id, task]])),
  login: ({ login }, { url, addedScopes = [] }) =>
    void (login.value = url === undefined ? undefined : { url, addedScopes }),
  doctor: (signals, event) => void (signals.doctor.value = event.doctor),
  fault: (signals, { armed, available }) => {
    signals.armed.value = armed
    signals.faultKinds.value = available
  },
  call: ({ callById }, { call }) => void (callById.value = new Map([...callById.value, [call.id, call]])),
  question: ({ questionById }, { question, isOpen }) =>
    void (questionById.value = withQuestion(questionById.value, question, isOpen)),
  message: ({ timeline }, event) =>
    void (timeline.value = append(timeline.value, { ...event, callId: event.message.callId })),
  client: ({ output, timeline }, { seq, at, callId, text }) => {
    if (callId === undefined) output.value = append(output.value, { seq, at, pid: undefined, text })
    else timeline.value = append(timeline.value, { type: 'note', seq, at, text, callId })
  },
  output: ({ output }, { seq, at, pid, text }) => void (output.value = append(output.value, { seq, at, pid, text })),
  setup: (signals, { panels, hosts, hostUrl }) => {
    signals.setup.value = { hosts, hostUrl }
    signals.panels.value = panels.map((panel) => ({ ...panel, data: undefined, problem: undefined }))
  },
  panel: takePanel,
}

function takeEvent<Type extends PageEvent['type']>(
  signals: Signals,
  event: Extract<PageEvent, { readonly type: Type }>,
): void {
  const take: Takers[Type] = takers[event.type]
  take(signals, event)
}

function warningsIn(lists: ServerLists | undefined): readonly string[] {
  return (lists?.warnings ?? []).flatMap(({ tool, message }) => (tool === undefined ? [message] : []))
}

function takePanel({ panels }: Signals, { name, value, problem }: PanelEvent): void {
  panels.value = panels.value.map((panel) =>
    panel.name === name ? { ...panel, data: value ?? panel.data, problem } : panel,
  )
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
