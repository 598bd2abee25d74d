import { isJson, isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '@x/core'
import { type Check, prefixFailurePath, typeFailure } from './failure.ts'

/**
 * How deep a check looks. `deep` also checks the content of members that may be any JSON, as zod does: for results,
 * because a client keeps their content, and no parser has checked those of a server in the same process. `shallow`
 * skips such content, because it runs for the params of every request; the parser and the code that uses the content
 * check it instead.
 */
export type CheckDepth = 'deep' | 'shallow'

/** Kinds of values that have no members or items. */
export type LeafKind =
  | 'string'
  | 'boolean'
  | 'integer'
  | 'number'
  | 'numberFromZeroToOne'
  | 'duration'
  | 'stringOrInteger'
  | 'integerOrNull'
  | 'formValue'
  | 'jsonValue'
  | 'jsonObject'
  | 'jsonArray'

/** Describes a value. It makes the check of the value, and `zodOf` derives a zod validator from it. */
export type Description = {
  /** Makes the check, which skips the member `selectorMember` because it was checked before. */
  readonly createCheck: (depth: CheckDepth, selectorMember?: string) => Check
} & (
  | { readonly kind: LeafKind }
  | { readonly kind: 'words'; readonly literals: readonly (string | number)[] }
  | { readonly kind: 'optional' | 'map'; readonly of: Description }
  | { readonly kind: 'list'; readonly of: Description; readonly maxLength?: number }
  | { readonly kind: 'object'; readonly members: { readonly [key: string]: Description }; readonly isOpen: boolean }
  | { readonly kind: 'union'; readonly of: readonly Description[] }
)

type Descriptions = Readonly<Record<string, Description>>

/**
 * Describes the wire type `T`, and is invariant in it: a member that is missing, surplus, of another type, or optional
 * where `T` requires it does not compile.
 */
export type Shape<T> = Description & { readonly typeBrand?: (value: T) => T }

/**
 * Describes a type that is assignable to `T`. A member of an object with an index signature needs it, because that
 * widens the member's type, and {@link Shape} is invariant.
 */
export type DescriptionOf<T> = Description & { readonly typeBrand?: (value: never) => T }

/** Declared keys of a type that also has an index signature. */
export type NamedKeys<T> = keyof { readonly [K in keyof T as string extends K ? never : K]: T[K] }

/** Makes the check of a wire type from its shape. */
export function checkOf<T>(shape: Shape<T>, depth: CheckDepth = 'deep'): Check {
  return shape.createCheck(depth)
}

function describeLeaf(kind: LeafKind, deepCheck: Check, shallowCheck = deepCheck): Description {
  return { kind, createCheck: (depth) => (depth === 'deep' ? deepCheck : shallowCheck) }
}

/**
 * Any string. The `format` of the published schema is not checked, because it is an annotation in dialect 2020-12. Code
 * that opens a URI or decodes Base64 reports an invalid text.
 */
export const string: Shape<string> = describeLeaf('string', (value) =>
  typeof value === 'string' ? undefined : typeFailure('a string', value),
)

/** A boolean. */
export const boolean: Shape<boolean> = describeLeaf('boolean', (value) =>
  typeof value === 'boolean' ? undefined : typeFailure('a boolean', value),
)

/** An integer that a JavaScript number represents exactly. */
export const integer: Shape<number> = describeLeaf('integer', (value) =>
  Number.isSafeInteger(value) ? undefined : typeFailure('an integer', value),
)

/** A finite number, as JSON requires. */
export const number: Shape<number> = describeLeaf('number', (value) =>
  Number.isFinite(value) ? undefined : typeFailure('a finite number', value),
)

/** A number from 0 to 1, as priorities are. */
export const numberFromZeroToOne: Shape<number> = describeLeaf('numberFromZeroToOne', (value) =>
  typeof value === 'number' && value >= 0 && value <= 1 ? undefined : typeFailure('a number from 0 to 1', value),
)

/** A duration in whole milliseconds, from 0 up. */
export const durationMs: Shape<number> = describeLeaf('duration', (value) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : typeFailure('an integer from 0 up', value),
)

/** A string or an integer, as ids and progress tokens are. An integer that JavaScript would round is rejected. */
export const stringOrInteger: Shape<string | number> = describeLeaf('stringOrInteger', (value) =>
  typeof value === 'string' || Number.isSafeInteger(value) ? undefined : typeFailure('a string or an integer', value),
)

/** An integer or `null`. */
export const integerOrNull: Shape<number | null> = describeLeaf('integerOrNull', (value) =>
  value === null || Number.isSafeInteger(value) ? undefined : typeFailure('an integer or null', value),
)

const jsonCheck: Check = (value) => (isJson(value) ? undefined : typeFailure('what JSON can carry', value))
const objectCheck: Check = (value) => (isJsonObject(value) ? undefined : typeFailure('an object', value))
const arrayCheck: Check = (value) => (Array.isArray(value) ? undefined : typeFailure('an array', value))

/**
 * Any JSON value; a shallow check accepts any value at all. The published JSON Schema omits `null` and fractions here,
 * which the specification's TypeScript, the source of truth, allows (basic/index, schema).
 */
export const jsonValue: Shape<JsonValue> = describeLeaf('jsonValue', jsonCheck, () => undefined)

/** An object of JSON values. A shallow check does not look at the values. */
export const jsonObject: Shape<JsonObject> = describeLeaf(
  'jsonObject',
  (value) => objectCheck(value) ?? jsonCheck(value),
  objectCheck,
)

/** An array of JSON values. A shallow check does not look at the values. */
export const jsonArray: Shape<JsonArray> = describeLeaf(
  'jsonArray',
  (value) => arrayCheck(value) ?? jsonCheck(value),
  arrayCheck,
)

/** One of the given strings or numbers. */
export function literal<const W extends string | number>(...literals: readonly W[]): Shape<W> {
  const allowedLiterals = new Set<unknown>(literals)
  const check: Check = (value) =>
    allowedLiterals.has(value) ? undefined : typeFailure(describeChoices(literals), value)
  return { kind: 'words', literals, createCheck: () => check }
}

/** A value that may be absent. */
export function optional<T>(of: Shape<T>): Shape<T | undefined> {
  return {
    kind: 'optional',
    of,
    createCheck(depth) {
      const check = of.createCheck(depth)
      return (value) => (value === undefined ? undefined : check(value))
    },
  }
}

/** An array of values. */
export function list<T>(of: Shape<T>): Shape<readonly T[]> {
  return {
    kind: 'list',
    of,
    createCheck(depth) {
      const check = of.createCheck(depth)
      return (value) => {
        if (!Array.isArray(value)) return typeFailure('an array', value)
        for (let at = 0; at < value.length; at++) {
          const failure = check(value[at])
          if (failure !== undefined) return { ...failure, path: `[${at}]${failure.path}` }
        }
        return undefined
      }
    },
  }
}

const stringsCheck = checkOf(list(string))

/** What a field of an elicited form may have. */
export const formValue: Shape<string | number | boolean | readonly string[]> = describeLeaf('formValue', (value) => {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return undefined
  return Array.isArray(value) ? stringsCheck(value) : typeFailure('a string, a number, a boolean or strings', value)
})

/** An array of at most `maxLength` strings. */
export function stringsUpTo(maxLength: number): Shape<readonly string[]> {
  const createCheck = (): Check => (value) => {
    const isTooLong = Array.isArray(value) && value.length > maxLength
    return isTooLong ? typeFailure(`at most ${maxLength} strings`, value) : stringsCheck(value)
  }
  return { kind: 'list', of: string, maxLength, createCheck }
}

/** An object with any keys, and values of one type. */
export function map<T>(of: Shape<T>): Shape<{ readonly [key: string]: T }> {
  return { kind: 'map', of, createCheck: (depth) => createMapCheck(of.createCheck(depth)) }
}

/** An object with named members. Others are allowed, and not checked. */
export function shape<T extends object>(members: NoInfer<{ readonly [K in keyof T]-?: Shape<T[K]> }>): Shape<T> {
  return describeObject(members)
}

/** An object with named members. Others are allowed, and must be JSON values. */
export function looseShape<T extends object>(
  members: NoInfer<{ readonly [K in NamedKeys<T>]-?: DescriptionOf<T[K]> }>,
): Shape<T> {
  return describeObject(members, true)
}

/**
 * Leaves out the type with which the compiler compares the members. With `isOpen`, other members must be JSON values;
 * otherwise they are not checked.
 */
export function describeObject(members: Descriptions, isOpen = false): Description {
  return {
    kind: 'object',
    members,
    isOpen,
    createCheck(depth, selectorMember) {
      const check = createMembersCheck(members, depth, selectorMember)
      if (!isOpen || depth === 'shallow') return check
      const otherMembersCheck = createMapCheck(jsonCheck, new Set(Object.keys(members)))
      return (value) => check(value) ?? otherMembersCheck(value)
    },
  }
}

function createMembersCheck(members: Descriptions, depth: CheckDepth, selectorMember?: string): Check {
  const keys = Object.keys(members).filter((key) => key !== selectorMember)
  const checks = keys.map((key) => members[key]?.createCheck(depth))
  return (value) => {
    if (!isJsonObject(value)) return typeFailure('an object', value)
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] ?? ''
      const failure = checks[at]?.(value[key])
      if (failure !== undefined) return prefixFailurePath(failure, key)
    }
    return undefined
  }
}

function createMapCheck(check: Check, skippedKeys?: ReadonlySet<string>): Check {
  return (value) => {
    if (!isJsonObject(value)) return typeFailure('an object', value)
    for (const key of Object.keys(value)) {
      const failure = skippedKeys?.has(key) ? undefined : check(value[key])
      if (failure !== undefined) return prefixFailurePath(failure, key)
    }
    return undefined
  }
}

/** A union whose variants differ in the string at `key`. */
export function unionByMember<T, K extends keyof T & string>(
  key: K,
  variants: { readonly [W in T[K] & string]: Shape<T extends unknown ? (W extends T[K] ? T : never) : never> },
): Shape<T> {
  const entries: readonly [string, Description][] = Object.entries(variants)
  return {
    kind: 'union',
    of: [...new Set(entries.map(([, variant]) => variant))],
    createCheck(depth) {
      const checks = new Map<unknown, Check>(entries.map(([name, variant]) => [name, variant.createCheck(depth, key)]))
      return (value) => {
        if (!isJsonObject(value)) return typeFailure('an object', value)
        const name = value[key]
        const check = checks.get(name)
        return check === undefined
          ? prefixFailurePath(typeFailure(describeChoices(Object.keys(variants)), name), key)
          : check(value)
      }
    },
  }
}

/**
 * A union of any types. `guessMemberIndex` says which one a value resembles, which affects the speed and the reported
 * failure, but not whether the value is valid.
 */
export function union<const T extends readonly unknown[]>(
  of: { readonly [I in keyof T]: Shape<T[I]> },
  guessMemberIndex: (value: unknown) => number = () => 0,
): Shape<T[number]> {
  const members: readonly Description[] = of
  return {
    kind: 'union',
    of,
    createCheck(depth, selectorMember) {
      const checks = members.map((member) => member.createCheck(depth, selectorMember))
      return (value) => {
        const failure = checks[guessMemberIndex(value)]?.(value)
        if (failure === undefined || checks.some((check) => check(value) === undefined)) return undefined
        if (failure.path !== '') return failure
        // The value does not resemble the guessed type at all. The failure of a type that matches in part is more
        // helpful.
        return checks.map((check) => check(value)).find((other) => other?.path !== '') ?? failure
      }
    },
  }
}

function describeChoices(choices: readonly (string | number)[]): string {
  return `${choices.length === 1 ? '' : 'one of '}${choices.map((choice) => JSON.stringify(choice)).join(', ')}`
}
