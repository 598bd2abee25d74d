import { isJson, isJsonObject, type JsonObject } from '@x/core'

/** A failed check: the path, the expected type, and the type found. It repeats nothing of the value itself. */
export interface Failure {
  /** The path from the checked value; empty for itself, else in source form, such as `.name` or `[0].type`. */
  readonly path: string
  readonly expected: string
  readonly got: string
}

/** Checks a value in place; returns `undefined` when it is valid. */
export type Check = (value: unknown) => Failure | undefined

/** Creates the failure of a value of another type. */
export function typeFailure(expectedType: string, value: unknown): Failure {
  return { path: '', expected: expectedType, got: describeKind(value) }
}

/** Any string. */
export const string: Check = (value) => (typeof value === 'string' ? undefined : typeFailure('a string', value))

/** A boolean. */
export const boolean: Check = (value) => (typeof value === 'boolean' ? undefined : typeFailure('a boolean', value))

/** An integer that a double represents exactly. */
export const integer: Check = (value) => (Number.isSafeInteger(value) ? undefined : typeFailure('an integer', value))

/** A number that JSON can carry. */
export const number: Check = (value) => (Number.isFinite(value) ? undefined : typeFailure('a finite number', value))

/** Any object, with unchecked members. */
export const object: Check = (value) => (isJsonObject(value) ? undefined : typeFailure('an object', value))

/** Any JSON value. A parser guarantees it for texts, but not for messages that stay in memory. */
export const json: Check = (value) => (isJson(value) ? undefined : typeFailure('what JSON can carry', value))

/** An object of JSON values. */
export const jsonObject: Check = (value) => object(value) ?? json(value)

/** A string or an integer, as ids and progress tokens are. */
export const stringOrInteger: Check = (value) =>
  typeof value === 'string' || Number.isSafeInteger(value) ? undefined : typeFailure('a string or an integer', value)

/** A number from 0 to 1, as priorities are. */
export const numberFromZeroToOne: Check = (value) =>
  typeof value === 'number' && value >= 0 && value <= 1 ? undefined : typeFailure('a number from 0 to 1', value)

/** One of a closed set of strings. */
export function oneOf(...words: readonly string[]): Check {
  const allowedWords = new Set<unknown>(words)
  return (value) => (allowedWords.has(value) ? undefined : typeFailure(describeChoices(words), value))
}

/** Makes a check optional. */
export function optional(check: Check): Check {
  return (value) => (value === undefined ? undefined : check(value))
}

/** An object whose named members pass their checks; it may have others. */
export function fields(checks: { readonly [key: string]: Check }): Check {
  const keys = Object.keys(checks)
  const rows = Object.values(checks)
  return (value) => {
    if (!isJsonObject(value)) return typeFailure('an object', value)
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] ?? ''
      const failure = rows[at]?.(value[key])
      if (failure !== undefined) return prefixFailurePath(failure, key)
    }
    return undefined
  }
}

/** An array whose items all pass the check. */
export function items(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return typeFailure('an array', value)
    for (let at = 0; at < value.length; at++) {
      const failure = check(value[at])
      if (failure !== undefined) return { ...failure, path: `[${at}]${failure.path}` }
    }
    return undefined
  }
}

/** An array of strings. */
export const strings: Check = items(string)

/** An object with any keys whose members all pass the check. */
export function members(check: Check): Check {
  return (value) => {
    if (!isJsonObject(value)) return typeFailure('an object', value)
    for (const key of Object.keys(value)) {
      const failure = check(value[key])
      if (failure !== undefined) return prefixFailurePath(failure, key)
    }
    return undefined
  }
}

/** An object whose named members pass their checks, and all others one of their own. */
export function fieldsWithRest(checks: { readonly [key: string]: Check }, otherMembersCheck: Check): Check {
  const namedFieldsCheck = fields(checks)
  const names = new Set(Object.keys(checks))
  return (value) => {
    const failure = namedFieldsCheck(value)
    if (failure !== undefined || !isJsonObject(value)) return failure
    for (const key of Object.keys(value)) {
      const otherFailure = names.has(key) ? undefined : otherMembersCheck(value[key])
      if (otherFailure !== undefined) return prefixFailurePath(otherFailure, key)
    }
    return undefined
  }
}

/** An object with a string member that selects the check. */
export function byMember(key: string, checks: { readonly [word: string]: Check }): Check {
  const rows = new Map<unknown, Check>(Object.entries(checks))
  return (value) => {
    if (!isJsonObject(value)) return typeFailure('an object', value)
    const word = value[key]
    const check = rows.get(word)
    return check === undefined
      ? prefixFailurePath(typeFailure(describeChoices(Object.keys(checks)), word), key)
      : check(value)
  }
}

function describeChoices(words: readonly string[]): string {
  return `${words.length === 1 ? '' : 'one of '}${words.map((word) => `"${word}"`).join(', ')}`
}

/** Prefixes the path of a failure with the key of the enclosing object. */
export function prefixFailurePath(failure: Failure, key: string): Failure {
  const pathStep = plainKeyForm.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, maxShownKeyLength))}]`
  return { ...failure, path: pathStep + failure.path }
}

/** The number of characters of a peer's key that a message repeats. */
const maxShownKeyLength = 100

const plainKeyForm = /^[\w$]{1,100}$/

/** Reads an own member of peer data, never an inherited one. */
export function ownMember(value: JsonObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}

function describeKind(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  const type = typeof value
  return type === 'object' ? 'an object' : `a ${type}`
}
