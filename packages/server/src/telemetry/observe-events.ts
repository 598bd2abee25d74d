import { type Attributes, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import type { Call, RunEndKind, ServerEvent, ServerEvents } from '@x/exchange'
import { conventions } from '@x/exchange/internal'
import type { Instruments } from './instruments.ts'
import { type RequestRecord, requestRecordKey } from './request-record.ts'
import type { RequestTarget } from './request-target.ts'
import { spanContextOf, telemetryPart } from './trace-parent.ts'

interface ObserverDeps {
  readonly tracer: Tracer
  readonly getInstruments: () => Instruments
}

type EventHandlers = {
  readonly [Type in keyof ServerEvents]?: (event: ServerEvents[Type], deps: ObserverDeps) => void
}

/** Records events in spans and metrics. Those without a handler are only logged. */
export function createObserver(deps: ObserverDeps): (event: ServerEvent) => void {
  return (event) => {
    // The cast is safe: the event's type has found its handler.
    const handle = eventHandlers[event.type] as ((event: ServerEvent, deps: ObserverDeps) => void) | undefined
    handle?.(event, deps)
  }
}

const eventHandlers: EventHandlers = {
  resume: ({ call, recordedParts }) => {
    const previousSpan = spanContextOf(recordedParts[telemetryPart])
    if (previousSpan !== undefined) recordOf(call)?.span.addLink({ context: previousSpan })
  },
  run: (run, { getInstruments }) => {
    const record = recordOf(run.call)
    record?.setRun(run)
    const { runs, rounds } = getInstruments()
    runs.add(1, runAttributesOf(record?.target, run.end))
    if (run.end === 'finished' || run.end === 'failed') rounds.record(run.round, record?.target.nameAttributes ?? {})
  },
  step: ({ call, key, durationMs, error }, { tracer }) => {
    const record = recordOf(call)
    if (record === undefined || !record.span.isRecording()) return
    // oxlint-disable-next-line no-restricted-properties -- the time of an event for telemetry
    const endTime = Date.now()
    const options = { startTime: endTime - durationMs, attributes: { [conventions.attributes.stepKey]: key } }
    const span = tracer.startSpan('step', options, record.spanContext)
    if (error !== undefined) {
      span.setAttribute(conventions.attributes.errorType, error instanceof Error ? error.name : '_OTHER')
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end(endTime)
  },
  question: ({ kind }, { getInstruments }) =>
    getInstruments().questions.add(1, { [conventions.attributes.questionKind]: kind }),
  answer: ({ kind, action }, { getInstruments }) =>
    getInstruments().answers.add(1, {
      [conventions.attributes.questionKind]: kind,
      [conventions.attributes.answerAction]: action,
    }),
  hand_off: ({ call, reason }, { getInstruments }) => {
    recordOf(call)?.setHandOff(reason)
    getInstruments().handOffs.add(1, { [conventions.attributes.handOffReason]: reason })
  },
  state_rejected: ({ call, code }, { getInstruments }) => {
    recordOf(call)?.span.setAttribute(conventions.attributes.stateCode, code)
    getInstruments().statesRejected.add(1, { [conventions.attributes.stateCode]: code })
  },
  call_refused: ({ reason }, { getInstruments }) =>
    getInstruments().refused.add(1, { [conventions.attributes.reason]: reason }),
  request_refused: ({ reason }, { getInstruments }) =>
    getInstruments().refused.add(1, { [conventions.attributes.reason]: reason }),
  stream_opened: ({ call }, { getInstruments }) => {
    // A stream's span ends with the acknowledgement; otherwise it would reach the exporter hours later.
    recordOf(call)?.span.end()
    getInstruments().streams.add(1)
  },
  stream_closed: (_, { getInstruments }) => getInstruments().streams.add(-1),
  attempt_started: ({ failures, waitedMs, tool }, { getInstruments }) => {
    const { waitDuration, takeovers } = getInstruments()
    waitDuration.record(waitedMs / 1000, { [conventions.attributes.tool]: tool })
    if (failures > 0) takeovers.add(1)
  },
  attempt_ended: ({ tool, end, durationMs }, { getInstruments }) =>
    getInstruments().attemptDuration.record(durationMs / 1000, {
      [conventions.attributes.tool]: tool,
      [conventions.attributes.taskEnd]: end,
    }),
}

function recordOf(call: Call): RequestRecord | undefined {
  return call.context.get(requestRecordKey)
}

function runAttributesOf(target: RequestTarget | undefined, end: RunEndKind): Attributes {
  if (target === undefined) return { [conventions.attributes.runEnd]: end }
  let attributes = target.runAttributes.get(end)
  if (attributes === undefined) {
    attributes = Object.freeze({ ...target.nameAttributes, [conventions.attributes.runEnd]: end })
    target.runAttributes.set(end, attributes)
  }
  return attributes
}
