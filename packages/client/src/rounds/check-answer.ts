import {
  checkCreateMessageResult,
  checkListRootsResult,
  type CreateMessageResult,
  type ElicitRequestParams,
  type InputRequest,
  type InputResponse,
  isJsonObject,
  type ListRootsResult,
} from '@x/schema'
import { checkForm } from '../forms/check-form.ts'
import { describeCheckFailure } from '../request/client-error.ts'

/** An answer as the client sends it, or the path and reason of a failure, which contain no part of the answer. */
export type CheckedAnswer = { readonly response: InputResponse } | { readonly issue: string }

/** Checks what a handler or caller answers to one request. Members that the protocol does not define are not sent. */
export function checkAnswer(request: InputRequest, answer: unknown): CheckedAnswer {
  if (!isJsonObject(answer)) return { issue: 'expected an object' }
  if (request.method === 'elicitation/create') return checkElicitAnswer(request.params, answer)
  return request.method === 'roots/list' ? checkRootsAnswer(answer) : checkSamplingAnswer(answer)
}

const elicitActions: ReadonlySet<unknown> = new Set(['accept', 'decline', 'cancel'])

function isElicitAction(value: unknown): value is 'accept' | 'decline' | 'cancel' {
  return elicitActions.has(value)
}

function checkElicitAnswer(
  params: ElicitRequestParams,
  { action, content = {} }: { readonly [field: string]: unknown },
): CheckedAnswer {
  if (!isElicitAction(action)) return { issue: 'action: expected "accept", "decline" or "cancel"' }
  // Content goes along only with accepted forms: a declined one may be half filled in, and what a user enters on a web
  // page must not pass through the client.
  if (action !== 'accept' || params.mode === 'url') return { response: { action } }
  if (!isJsonObject(content)) return { issue: 'content: expected an object' }
  const checkedForm = checkForm(params.requestedSchema, content)
  return 'issue' in checkedForm ? checkedForm : { response: { action, content: checkedForm.content } }
}

function checkSamplingAnswer(answer: object): CheckedAnswer {
  const failure = checkCreateMessageResult(answer)
  if (failure !== undefined) return { issue: describeCheckFailure(failure, 'answer') }
  // The cast is safe: the check of this type has accepted the answer.
  const { role, content, model, stopReason, _meta } = answer as CreateMessageResult
  return {
    response: { role, content, model, ...(stopReason !== undefined && { stopReason }), ...(_meta && { _meta }) },
  }
}

function checkRootsAnswer(answer: object): CheckedAnswer {
  const failure = checkListRootsResult(answer)
  if (failure !== undefined) return { issue: describeCheckFailure(failure, 'answer') }
  // The check of this very type has accepted it.
  const { roots } = answer as ListRootsResult
  const invalidIndex = roots.findIndex(({ uri }) => !uri.startsWith('file://') || parentSegmentPattern.test(uri))
  if (invalidIndex >= 0) return { issue: `roots[${invalidIndex}].uri: expected a file:// URI without ".." in it` }
  return { response: { roots } }
}

// client/roots, security considerations: a root's path must not contain a parent segment (`..`).
const parentSegmentPattern = /(?:^|[\\/]|%2f|%5c)(?:\.|%2e){2}(?:$|[\\/?#]|%2f|%5c)/i
