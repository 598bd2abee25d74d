import { decodeBase64, isJsonArray, isJsonObject, type JsonObject, type JsonValue, stringifyWellFormed } from '@x/core'
import { ToolError } from '@x/server'
import type { BodyPlan, FieldPlan } from '../plan/plan-body.ts'
import type { OperationPlan } from '../plan/plan-operation.ts'
import { findLargeInteger } from './large-integers.ts'
import { writeText, writeHeaderValue, writePairs, writePathValue } from './write-value.ts'

/** Without what the author adds to each request: the address, fixed headers and parameters, and the credential. */
export interface ApiRequest {
  readonly method: string
  /** Path and query, encoded. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | FormData | undefined
}

/** @throws ToolError for arguments that cannot be sent. */
export function writeRequest({ operation, parameters, body }: OperationPlan, args: JsonObject): ApiRequest {
  const { method } = operation
  checkIntegers(args)
  const headers: Record<string, string> = { accept: 'application/json, */*;q=0.5' }
  for (const parameter of parameters) {
    const value = argumentOf(args, parameter.argument)
    if (parameter.place === 'header' && value !== null)
      headers[parameter.name.toLowerCase()] = writeHeaderValue(parameter, value)
  }
  const target = writeTarget(operation.path, parameters, args)
  if (body === undefined || !Object.hasOwn(args, 'body')) return { method, target, headers, body: undefined }
  // The platform writes the type of a form with files, because it chooses the boundary.
  if (body.kind !== 'multipart') headers['content-type'] = body.mediaType
  return { method, target, headers, body: writeBody(body, argumentOf(args, 'body')) }
}

function checkIntegers(args: JsonObject): void {
  const path = findLargeInteger(args, '')
  if (path === undefined) return
  const rule = `must be at most ${Number.MAX_SAFE_INTEGER} as a number, because larger integers are rounded on their way`
  throw new ToolError(`${path} ${rule}. Write it as a string if the schema accepts one. Nothing was sent`)
}

/** An argument that is null is left out, unless it is the body. */
function argumentOf(args: JsonObject, name: string): JsonValue {
  return (Object.hasOwn(args, name) ? args[name] : undefined) ?? null
}

function writeTarget(path: string, parameters: OperationPlan['parameters'], args: JsonObject): string {
  const pathValues = new Map<string, string>()
  const pairs: string[] = []
  for (const parameter of parameters) {
    const value = argumentOf(args, parameter.argument)
    if (parameter.place === 'path') pathValues.set(parameter.name, writePathValue(parameter, value))
    else if (parameter.place === 'query') pairs.push(...writePairs(parameter, value))
  }
  const written = path.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => pathValues.get(name) ?? '')
  return pairs.length === 0 ? written : `${written}?${pairs.join('&')}`
}

function writeBody({ kind, fields }: BodyPlan, value: JsonValue): string | FormData {
  if (kind === 'json') return stringifyWellFormed(value)
  if (kind === 'text') return writeText(value)
  if (!isJsonObject(value)) throw new ToolError('body must be an object')
  return kind === 'multipart' ? writeMultipart(value, fields) : writeForm(value, fields)
}

/** Properties that are objects are JSON, unless the document gives them a style (OpenAPI 3.1, encoding object). */
function writeForm(value: JsonObject, fields: BodyPlan['fields']): string {
  const pairs = Object.entries(value).flatMap(([name, member = null]) => {
    const field = fields.get(name)
    const isObject = isJsonObject(member)
    const plan =
      field === undefined || field === 'binary'
        ? ({ style: isObject ? 'json' : 'form', explode: true } as const)
        : field
    return writePairs({ name, ...plan }, member)
  })
  return pairs.join('&').replaceAll('%20', '+')
}

function writeMultipart(value: JsonObject, fields: BodyPlan['fields']): FormData {
  const form = new FormData()
  for (const [name, member = null] of Object.entries(value)) {
    for (const item of isJsonArray(member) ? member : [member])
      appendField(form, { name, item, field: fields.get(name) })
  }
  return form
}

function appendField(
  form: FormData,
  { name, item, field }: { readonly name: string; readonly item: JsonValue; readonly field: FieldPlan | undefined },
): void {
  if (item === null) return
  if (field !== 'binary') return form.append(name, writeText(item))
  const bytes = typeof item === 'string' ? decodeBase64(item) : undefined
  if (bytes === undefined) throw new ToolError(`body.${name} must be a file as Base64`)
  form.append(name, new Blob([new Uint8Array(bytes)]), name)
}
