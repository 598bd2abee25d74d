import { readFile } from 'node:fs/promises'
import { codeOf, findJsonProblem, isJsonObject, type JsonObject } from '@x/core'
import { parse } from 'yaml'
import { OpenApiError } from './document/open-api-error.ts'

// limit: document depth | count | levels of a document in a file | the document is rejected
const maxDepth = 200

/**
 * Reads an OpenAPI document from a file of YAML or JSON. References to other files are not followed: bundle a document of
 * several files first, for example with `npx @redocly/cli bundle`.
 *
 * @throws OpenApiError for a file that has no object. Its cause is the error of Node if the file cannot be read.
 */
export async function readOpenApi(path: string): Promise<JsonObject> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const message = `${path} cannot be read (${codeOf(cause)}); give the path of an OpenAPI document of YAML or JSON`
    throw new OpenApiError('document', message, { cause })
  })
  const document = parseDocument(path, text.replace(/^\uFEFF/, ''))
  const problem = findJsonProblem(document, { maxDepth })
  if (isJsonObject(document) && problem === undefined) return document
  const place = problem === undefined || problem.path.length === 0 ? '' : `, at ${problem.path.join('/').slice(0, 200)}`
  throw new OpenApiError('document', `${path} must have one object of YAML or JSON${place}`)
}

function parseDocument(path: string, text: string): unknown {
  try {
    // A parser of YAML reads JSON too, and takes much longer.
    return /^\s*\{/.test(text) && isJsonText(path) ? JSON.parse(text) : parse(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split('\n', 1).join() : 'it cannot be parsed'
    throw new OpenApiError('document', `${path} is neither YAML nor JSON: ${reason}`, { cause })
  }
}

function isJsonText(path: string): boolean {
  return !/\.ya?ml$/i.test(path)
}
