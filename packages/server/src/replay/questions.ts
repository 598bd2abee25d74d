import {
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type ElicitResult,
  isJsonObject,
  type JsonObject,
  type Root,
} from '@x/schema'
import { DefinitionError } from '../request/definition-error.ts'
import { type FormContentOf, type Form, formOf, schemaTextOf } from '../elicitation/form.ts'
import { type AnySchema, formatIssues } from '../json-schema/compile-schema.ts'
import { mapAwaitable } from '../request/awaitable.ts'
import { answerQuestion, type ClientQuestion, type AnswerOutcome } from './ask-client.ts'
import { InputDeclined, type FormAnswer, type FormQuestion, type UrlQuestion } from '../definitions/context.ts'
import { samplingCapabilitiesFor } from './input-capabilities.ts'
import { failRun, type Run } from './run.ts'
import { warnRebuiltForm } from './warnings.ts'

/** Returns the user's answer: accept, decline or cancel. */
export async function askForm<S extends AnySchema | Form<unknown>>(
  run: Run,
  key: string,
  question: FormQuestion<S>,
): Promise<FormAnswer<FormContentOf<S>>> {
  return requestFormAnswer(run, key, question)
}

const formCapabilities: ClientCapabilities = { elicitation: { form: {} } }

/** As {@link askForm}, but a mistake in the question is thrown at once. */
function requestFormAnswer<S extends AnySchema | Form<unknown>>(
  run: Run,
  key: string,
  { message, schema }: FormQuestion<S>,
): Promise<FormAnswer<FormContentOf<S>>> {
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
  // The form's own schema has accepted the content.
  return answer as Promise<FormAnswer<FormContentOf<S>>>
}

/** A schema that no form can carry is the author's fault, and no failure that a model could do something about. */
function compileQuestionForm(run: Run, key: string, schema: AnySchema | Form<unknown>): Form<unknown> {
  try {
    return formOf(schema, () => warnRebuiltForm(run, key))
  } catch (error) {
    throw error instanceof DefinitionError ? failRun(run, 'question', `The question "${key}": ${error.message}`) : error
  }
}

/** Returns the accepted content. Throws {@link InputDeclined} otherwise. */
export async function elicit<S extends AnySchema | Form<unknown>>(
  run: Run,
  key: string,
  question: FormQuestion<S>,
): Promise<FormContentOf<S>> {
  const answer = await requestFormAnswer(run, key, question)
  if (answer.action === 'accept') return answer.content
  throw new InputDeclined(key, answer.action)
}

/** Sends the user to a page, and resolves once they agreed and the server knows that it is done. */
export async function elicitUrl(run: Run, key: string, { message, url, isDone }: UrlQuestion): Promise<void> {
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

/** Returns the answer of the client's model (client/sampling). */
export function sample(run: Run, key: string, params: CreateMessageRequestParams): Promise<CreateMessageResult> {
  return answerQuestion(run, key, {
    functionName: 'ctx.sample',
    request: { method: 'sampling/createMessage', params },
    requiredCapabilities: { sampling: samplingCapabilitiesFor(params) },
    parseResponse: (response) =>
      isSamplingResult(response) ? { value: response } : wrongAnswerProblem('what a model says'),
  })
}

/** Returns the text blocks of the model's answer, one per line. */
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

/** The client's roots (client/roots). */
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

// The params were checked as they came in: an object with the members of an answer is one.
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
