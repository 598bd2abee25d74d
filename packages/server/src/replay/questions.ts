import {
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type ElicitResult,
  isJsonObject,
  type JsonObject,
  type Root,
} from '@x/schema'
import { type FormContentOf, type Form, formOf, schemaTextOf } from '../elicitation/form.ts'
import type { AnySchema } from '../json-schema/compile-schema.ts'
import { formatIssues } from '../json-schema/rejected-value.ts'
import { mapAwaitable } from '../request/awaitable.ts'
import type { AnswerOutcome, ClientQuestion, HandlerQuestion } from './ask-client.ts'
import { InputDeclined, type FormAnswer, type FormQuestion, type UrlQuestion } from '../definitions/context.ts'
import { samplingCapabilitiesFor } from './input-capabilities.ts'

/**
 * Asks the user to fill in a form. Answered by the user's action (accept, decline or cancel), with the content of an
 * accepted form.
 */
export function formQuestion<S extends AnySchema | Form<unknown>>(
  question: FormQuestion<S>,
): HandlerQuestion<FormAnswer<FormContentOf<S>>> {
  return {
    functionName: 'ctx.elicitResult',
    // The cast is safe: the form's schema has accepted the content.
    describe: (_, onRebuilt) =>
      describeForm(question, onRebuilt, (answer) => ({ value: answer as FormAnswer<FormContentOf<S>> })),
  }
}

/**
 * Asks the user to fill in a form. Answered by the accepted content, or {@link InputDeclined} if the user declines or
 * cancels.
 */
export function contentQuestion<S extends AnySchema | Form<unknown>>(
  question: FormQuestion<S>,
): HandlerQuestion<FormContentOf<S>> {
  return {
    functionName: 'ctx.elicit',
    describe: (key, onRebuilt) =>
      describeForm(question, onRebuilt, (answer) =>
        // The cast is safe: the form's schema has accepted the content.
        answer.action === 'accept'
          ? { value: answer.content as FormContentOf<S> }
          : { error: new InputDeclined(key, answer.action) },
      ),
  }
}

const formCapabilities: ClientCapabilities = { elicitation: { form: {} } }

function describeForm<T>(
  { message, schema }: FormQuestion<AnySchema | Form<unknown>>,
  onRebuilt: () => void,
  toOutcome: (answer: FormAnswer<unknown>) => AnswerOutcome<T>,
): ClientQuestion<T> {
  const form = formOf(schema, onRebuilt)
  const { requestedSchema, check } = form
  return {
    functionName: 'ctx.elicit or ctx.elicitResult',
    request: { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } },
    text: `{"method":"elicitation/create","params":{"mode":"form","message":${JSON.stringify(message)},"requestedSchema":${schemaTextOf(form)}}}`,
    requiredCapabilities: formCapabilities,
    parseResponse: (response) => {
      if (!isElicitResult(response)) return wrongAnswerProblem('the action of a user')
      const { action, content = {} } = response
      if (action !== 'accept') return toOutcome({ action })
      return mapAwaitable(check(content), (contentCheckResult): AnswerOutcome<T> => {
        if (contentCheckResult.issues === undefined) return toOutcome({ action, content: contentCheckResult.value })
        return { problem: `The last answer did not fit:\n${formatIssues(contentCheckResult)}` }
      })
    },
  }
}

/**
 * Asks the user to open a page. Answered when the user has agreed and `isDone`, if given, returns true, or by
 * {@link InputDeclined}.
 */
export function urlQuestion(question: UrlQuestion): HandlerQuestion<void> {
  const functionName = 'ctx.elicitUrl'
  return {
    functionName,
    describe(key) {
      const { message, url, isDone } = question
      return {
        functionName,
        request: { method: 'elicitation/create', params: { mode: 'url', message, url } },
        requiredCapabilities: { elicitation: { url: {} } },
        parseResponse: (response) => {
          if (!isElicitResult(response)) return wrongAnswerProblem('the action of a user')
          const { action } = response
          if (action !== 'accept') return { error: new InputDeclined(key, action) }
          if (isDone === undefined) return { value: undefined }
          return mapAwaitable(isDone(), (isInteractionDone) =>
            isInteractionDone ? { value: undefined } : { pendingReason: 'This is not finished yet.' },
          )
        },
      }
    },
  }
}

/** Asks the client's model (client/sampling). */
export function modelQuestion(params: CreateMessageRequestParams): HandlerQuestion<CreateMessageResult> {
  const functionName = 'ctx.sample'
  return { functionName, describe: () => describeSampling(params, (value) => ({ value })) }
}

/**
 * Asks the client's model for text. Answered by its text blocks, joined by line breaks, or by an error if there are
 * none.
 */
export function textQuestion(params: CreateMessageRequestParams): HandlerQuestion<string> {
  return {
    functionName: 'ctx.sampleText',
    describe: (key) =>
      describeSampling(params, ({ content }) => {
        const blocks = [content].flat()
        const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
        if (texts.length > 0) return { value: texts.join('\n') }
        const typesText = blocks.map(({ type }) => type).join(', ') || 'nothing'
        const message = `The model answered ctx.sampleText("${key}") with ${typesText} and no text; ctx.sample gives all of it`
        return { error: new Error(message) }
      }),
  }
}

function describeSampling<T>(
  params: CreateMessageRequestParams,
  toOutcome: (answer: CreateMessageResult) => AnswerOutcome<T>,
): ClientQuestion<T> {
  return {
    functionName: 'ctx.sample',
    request: { method: 'sampling/createMessage', params },
    requiredCapabilities: { sampling: samplingCapabilitiesFor(params) },
    parseResponse: (response) =>
      isSamplingResult(response) ? toOutcome(response) : wrongAnswerProblem('what a model says'),
  }
}

/** Asks the client for its roots (client/roots). */
export function rootsQuestion(): HandlerQuestion<readonly Root[]> {
  const functionName = 'ctx.roots'
  return {
    functionName,
    describe: () => ({
      functionName,
      request: { method: 'roots/list' },
      requiredCapabilities: { roots: {} },
      parseResponse: ({ roots }) =>
        isRoots(roots) ? { value: roots } : wrongAnswerProblem('a list of roots whose URIs begin with file://'),
    }),
  }
}

// Every answer has passed the params check, so one member is enough to recognize its kind.
function isElicitResult(response: JsonObject): response is JsonObject & ElicitResult {
  return 'action' in response
}

function isSamplingResult(response: JsonObject): response is JsonObject & CreateMessageResult {
  return 'role' in response && 'model' in response
}

function isRoots(value: unknown): value is readonly Root[] {
  return Array.isArray(value) && value.every((root) => isJsonObject(root) && String(root['uri']).startsWith('file://'))
}

function wrongAnswerProblem(expectedAnswer: string): { readonly problem: string } {
  return { problem: `The last answer was not ${expectedAnswer}.` }
}
