import { DefinitionError } from '@x/exchange'
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
import { answerQuestion, type ClientQuestion, type AnswerOutcome } from './ask-client.ts'
import { InputDeclined, type FormAnswer, type FormQuestion, type UrlQuestion } from '../definitions/context.ts'
import { samplingCapabilitiesFor } from './input-capabilities.ts'
import { HandlerError } from './handler-error.ts'
import type { Run } from './run.ts'
import { warnRebuiltForm } from './warnings.ts'

/**
 * Asks the user to fill in a form. Returns the user's action (accept, decline or cancel), and the content of an
 * accepted form.
 */
export async function askForm<S extends AnySchema | Form<unknown>>(
  run: Run,
  key: string,
  question: FormQuestion<S>,
): Promise<FormAnswer<FormContentOf<S>>> {
  return requestFormAnswer(run, key, question)
}

const formCapabilities: ClientCapabilities = { elicitation: { form: {} } }

/** Does the same as {@link askForm}, but throws synchronously instead of rejecting if the question is invalid. */
function requestFormAnswer<S extends AnySchema | Form<unknown>>(
  run: Run,
  key: string,
  question: FormQuestion<S>,
): Promise<FormAnswer<FormContentOf<S>>> {
  run.checkKey(key, 'ctx.elicit')
  const { message, schema } = question
  const form = compileQuestionForm(run, key, schema)
  const { requestedSchema, check } = form
  const answer = answerQuestion<FormAnswer<unknown>>(run, key, {
    functionName: 'ctx.elicit or ctx.elicitResult',
    request: { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } },
    text: `{"method":"elicitation/create","params":{"mode":"form","message":${JSON.stringify(message)},"requestedSchema":${schemaTextOf(form)}}}`,
    requiredCapabilities: formCapabilities,
    parseResponse: (response) => {
      if (!isElicitResult(response)) return wrongAnswerProblem('the action of a user')
      const { action, content = {} } = response
      if (action !== 'accept') return { value: { action } }
      return mapAwaitable(check(content), (contentCheckResult): AnswerOutcome<FormAnswer<unknown>> => {
        if (contentCheckResult.issues === undefined) return { value: { action, content: contentCheckResult.value } }
        return { problem: `The last answer did not fit:\n${formatIssues(contentCheckResult)}` }
      })
    },
  })
  // The cast is safe, because the form's schema has accepted the content.
  return answer as Promise<FormAnswer<FormContentOf<S>>>
}

/**
 * Compiles the schema of a form. Fails the call for a schema that a form cannot have, because only the author can
 * correct this mistake, not a model.
 */
function compileQuestionForm(run: Run, key: string, schema: AnySchema | Form<unknown>): Form<unknown> {
  try {
    return formOf(schema, () => warnRebuiltForm(run, key))
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error
    throw run.fail(new HandlerError('question', `The question "${key}": ${error.message}`))
  }
}

/**
 * Asks the user to fill in a form, and returns the accepted content. Throws {@link InputDeclined} if the user declines
 * or cancels.
 */
export async function elicit<S extends AnySchema | Form<unknown>>(
  run: Run,
  key: string,
  question: FormQuestion<S>,
): Promise<FormContentOf<S>> {
  const answer = await requestFormAnswer(run, key, question)
  if (answer.action === 'accept') return answer.content
  throw new InputDeclined(key, answer.action)
}

/**
 * Asks the user to open a page. Resolves when the user has agreed and `isDone`, if given, returns true. Throws {@link
 * InputDeclined} if the user declines or cancels.
 */
export async function elicitUrl(run: Run, key: string, question: UrlQuestion): Promise<void> {
  run.checkKey(key, 'ctx.elicitUrl')
  const { message, url, isDone } = question
  const action = await answerQuestion<ElicitResult['action']>(run, key, {
    functionName: 'ctx.elicitUrl',
    request: { method: 'elicitation/create', params: { mode: 'url', message, url } },
    requiredCapabilities: { elicitation: { url: {} } },
    parseResponse: (response) => {
      if (!isElicitResult(response)) return wrongAnswerProblem('the action of a user')
      const { action } = response
      if (action !== 'accept' || isDone === undefined) return { value: action }
      return mapAwaitable(isDone(), (isInteractionDone) =>
        isInteractionDone ? { value: action } : { pendingReason: 'This is not finished yet.' },
      )
    },
  })
  if (action !== 'accept') throw new InputDeclined(key, action)
}

/** Asks the client's model, and returns its answer (client/sampling). */
export function sample(run: Run, key: string, params: CreateMessageRequestParams): Promise<CreateMessageResult> {
  return answerQuestion(run, key, {
    functionName: 'ctx.sample',
    request: { method: 'sampling/createMessage', params },
    requiredCapabilities: { sampling: samplingCapabilitiesFor(params) },
    parseResponse: (response) =>
      isSamplingResult(response) ? { value: response } : wrongAnswerProblem('what a model says'),
  })
}

/**
 * Asks the client's model, and returns the text blocks of its answer, joined by line breaks. Throws if the answer has
 * no text.
 */
export async function sampleText(run: Run, key: string, params: CreateMessageRequestParams): Promise<string> {
  const { content } = await sample(run, key, params)
  const blocks = [content].flat()
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  if (texts.length > 0) return texts.join('\n')
  const typesText = blocks.map(({ type }) => type).join(', ') || 'nothing'
  throw new Error(
    `The model answered ctx.sampleText("${key}") with ${typesText} and no text; ctx.sample gives all of it`,
  )
}

/** Asks the client for its roots (client/roots). */
export function requestRoots(run: Run, key: string): Promise<readonly Root[]> {
  const question: ClientQuestion<readonly Root[]> = {
    functionName: 'ctx.roots',
    request: { method: 'roots/list' },
    requiredCapabilities: { roots: {} },
    parseResponse: ({ roots }) =>
      isRoots(roots) ? { value: roots } : wrongAnswerProblem('a list of roots whose URIs begin with file://'),
  }
  return answerQuestion(run, key, question)
}

// The params check has accepted every answer as valid, so one member is enough to recognize its kind.
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
