import { cloneJson, isCancelled, withSignalOf } from '@x/core'
import { olderRequestKey } from '@x/exchange'
import { type ClientCapabilities, metaKeys, findMissingCapabilities } from '@x/schema'
import { severityOf } from '@x/schema/internal'
import { becomeTask } from './become-task.ts'
import type { Run } from './run.ts'
import { ask } from './ask-client.ts'
import { contentQuestion, formQuestion, modelQuestion, rootsQuestion, textQuestion, urlQuestion } from './questions.ts'
import { openCheckpoint, recordUuid, startStep } from './record-work.ts'
import { publishResourceUpdate, publishTopic } from './publish-topic.ts'
import type { ClientFeature, ClientView, Context, RequestContext } from '../definitions/context.ts'
import type { ServedRequest } from './served-request.ts'

const capabilitiesByFeature = new Map<string, ClientCapabilities>([
  ['elicitation', { elicitation: {} }],
  ['elicitation.form', { elicitation: { form: {} } }],
  ['elicitation.url', { elicitation: { url: {} } }],
  ['sampling', { sampling: {} }],
  ['sampling.context', { sampling: { context: {} } }],
  ['sampling.tools', { sampling: { tools: {} } }],
  ['roots', { roots: {} }],
])

/** For a request that cannot ask its client, such as a completion. */
export function openRequestContext(request: ServedRequest): RequestContext {
  const { meta, call } = request
  const { progress, log } = messageSenderOf(request)
  const can = (feature: ClientFeature) => isDeclared(feature, request)
  const context = {
    principal: call.principal,
    client: clientViewOf(request),
    meta,
    context: call.context,
    can,
    progress,
    log,
  }
  return withSignalOf(context, call)
}

export function openContext(run: Run): Context {
  const { request } = run
  const { progress, log } = messageSenderOf(request)
  const responses = responsesFor(run)
  const state = stateFor(run)
  // No spread in this literal: every call creates a context, and a spread would cost as much as the rest of the call.
  const context: Omit<Context, 'signal'> = {
    principal: request.call.principal,
    client: clientViewOf(request),
    meta: request.meta,
    context: request.call.context,
    can: (feature) => isDeclared(feature, request),
    progress,
    log,
    elicit: (key, question) => ask(run, key, contentQuestion(question)),
    elicitResult: (key, question) => ask(run, key, formQuestion(question)),
    elicitUrl: (key, question) => ask(run, key, urlQuestion(question)),
    sample: (key, params) => ask(run, key, modelQuestion(params)),
    sampleText: (key, params) => ask(run, key, textQuestion(params)),
    roots: (key) => ask(run, key, rootsQuestion()),
    step: (key, work) => startStep(run, key, work),
    checkpoint: (key, initialValue) => openCheckpoint(run, key, initialValue),
    continueAsTask: (choice = 'allowed') => becomeTask(run, choice),
    notifyResourceUpdated: (uri) => publishResourceUpdate(uri, request.settings),
    notifyListChanged: (kind) => publishTopic(kind, request.settings),
    now: () => run.journal.recorded.startedAt,
    uuid: (key) => recordUuid(run, key),
    responses,
    state,
  }
  return withSignalOf(context, run)
}

// Always empty.
const noResponses: Context['responses'] = new Map()

/** Copied, because a handler may change its answers while the call continues with them elsewhere. */
function responsesFor({ existingJournal }: Run): Context['responses'] {
  const responses = existingJournal?.responses
  return responses === undefined || responses.size === 0 ? noResponses : structuredClone(responses)
}

/** Copied for the same reason. */
function stateFor({ existingJournal }: Run): Context['state'] {
  const state = existingJournal?.explicitState
  return state === undefined ? undefined : cloneJson(state)
}

function clientViewOf({ meta, call }: ServedRequest): ClientView {
  const capabilities = meta[metaKeys.clientCapabilities]
  const version = call.context.get(olderRequestKey)?.revision ?? meta[metaKeys.protocolVersion]
  return { version, info: meta[metaKeys.clientInfo], capabilities }
}

function isDeclared(feature: ClientFeature, { meta }: ServedRequest): boolean {
  return findMissingCapabilities(meta[metaKeys.clientCapabilities], capabilitiesOfFeature(feature)) === undefined
}

/** Functions that send progress and logs. Most requests ask for neither, and share functions that do nothing. */
function messageSenderOf(request: ServedRequest): Pick<RequestContext, 'progress' | 'log'> {
  const { meta } = request
  return meta.progressToken !== undefined || meta[metaKeys.logLevel] !== undefined
    ? createMessageSender(request)
    : silentSender
}

function capabilitiesOfFeature(feature: string): ClientCapabilities {
  const capabilities = capabilitiesByFeature.get(feature)
  if (capabilities !== undefined) return capabilities
  // An extension's identifier has a prefix (basic/index, extensions), so any other text is misspelt.
  if (feature.includes('/')) return { extensions: { [feature]: {} } }
  const known = [...capabilitiesByFeature.keys()].join(', ')
  throw new TypeError(
    `ctx.can has no feature "${feature}"; it has ${known}, and identifiers such as "com.example/name"`,
  )
}

const silentSender: Pick<RequestContext, 'progress' | 'log'> = { progress() {}, log() {} }

function createMessageSender(request: ServedRequest): Pick<RequestContext, 'progress' | 'log'> {
  const token = request.meta.progressToken
  const level = request.meta[metaKeys.logLevel]
  const mayStillSend = createRateLimiter(request)
  let lastProgress = Number.NEGATIVE_INFINITY
  return {
    progress(progress, total, message) {
      if (token === undefined || !Number.isFinite(progress) || progress <= lastProgress || !mayStillSend()) return
      lastProgress = progress
      const params = {
        progressToken: token,
        progress,
        ...(Number.isFinite(total) && { total }),
        ...(message !== undefined && { message }),
      }
      request.call.notify({ jsonrpc: '2.0', method: 'notifications/progress', params })
    },
    log(messageLevel, data, logger) {
      if (level === undefined || severityOf(messageLevel) < severityOf(level) || !mayStillSend()) return
      const params = { level: messageLevel, ...(logger !== undefined && { logger }), data }
      request.call.notify({ jsonrpc: '2.0', method: 'notifications/message', params })
    },
  }
}

function createRateLimiter(request: ServedRequest): () => boolean {
  const { maxNotificationsPerSecond, now } = request.settings
  let windowStart = Number.NEGATIVE_INFINITY
  let sentCount = 0
  return () => {
    if (!request.isOpen || isCancelled(request.call)) return false
    const time = now()
    if (time - windowStart >= 1000) {
      windowStart = time
      sentCount = 0
    }
    sentCount++
    return sentCount <= maxNotificationsPerSecond
  }
}
