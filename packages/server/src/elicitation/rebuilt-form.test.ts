import { expect, test } from 'vitest'
import * as mini from 'zod/mini'
import { z } from 'zod'
import { structureKeyOf } from '../json-schema/zod-key.ts'
import { accept, completeCall, send, serve, toolKind } from '../testing/rounds.ts'
import { formOf } from './form.ts'

const keyOf = (schema: object) => structureKeyOf(schema)?.text
const inputSchemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' })

/** Schemas that differ in one respect each; none of them may be taken for another. */
const distinct: readonly (() => z.ZodType)[] = [
  () => z.object({}),
  () => z.object({ a: z.string() }),
  () => z.object({ b: z.string() }),
  () => z.object({ a: z.string(), b: z.string() }),
  () => z.object({ a: z.string().optional() }),
  () => z.object({ a: z.string().default('x') }),
  () => z.object({ a: z.string().default('y') }),
  () => z.object({ a: z.string().min(1) }),
  () => z.object({ a: z.string().min(2) }),
  () => z.object({ a: z.string().max(1) }),
  () => z.object({ a: z.string().regex(/a/) }),
  () => z.object({ a: z.string().regex(/a|b/) }),
  () => z.object({ a: z.email() }),
  () => z.object({ a: z.url() }),
  () => z.object({ a: z.iso.date() }),
  () => z.object({ a: z.string().describe('one') }),
  () => z.object({ a: z.string().describe('other') }),
  () => z.object({ a: z.string().meta({ title: 'one' }) }),
  () => z.object({ a: z.number() }),
  () => z.object({ a: z.int() }),
  () => z.object({ a: z.number().min(1) }),
  () => z.object({ a: z.number().gt(1) }),
  () => z.object({ a: z.number().max(1) }),
  () => z.object({ a: z.number().multipleOf(2) }),
  () => z.object({ a: z.boolean() }),
  () => z.object({ a: z.enum(['x', 'y']) }),
  () => z.object({ a: z.enum(['y', 'x']) }),
  () => z.object({ a: z.enum({ x: 'y' }) }),
  () => z.object({ a: z.literal('x') }),
  () => z.object({ a: z.literal(['x', 'y']) }),
  () => z.object({ a: z.array(z.enum(['x', 'y'])) }),
  () => z.object({ a: z.array(z.enum(['x', 'y'])).min(1) }),
  () => z.object({ 'a":{': z.string() }),
  () => z.strictObject({ a: z.string() }),
  () => z.looseObject({ a: z.string() }),
]

test('schemas have one key if they are built alike, and different keys if a client sees a difference', () => {
  const keys = distinct.map((build) => keyOf(build()))
  expect(keys).not.toContain(undefined)
  expect(new Set(keys).size).toBe(distinct.length)
  expect(distinct.map((build) => keyOf(build()))).toEqual(keys)
})

test('schemas of one key have one JSON Schema', () => {
  const pairs: readonly (readonly [z.ZodType, z.ZodType])[] = [
    [z.object({ a: z.string().refine((text) => text > 'a') }), z.object({ a: z.string().refine(() => true) })],
    [z.object({ a: z.string().transform(Number) }), z.object({ a: z.string().transform((text) => text.length) })],
    [z.object({ a: z.string().trim() }), z.object({ a: z.string().toUpperCase() })],
  ]
  for (const [one, other] of pairs) {
    expect(keyOf(one)).toBe(keyOf(other))
    expect(inputSchemaOf(one)).toEqual(inputSchemaOf(other))
  }
})

let time = 0
const tree: z.ZodType = z.object({
  get child() {
    return z.optional(tree)
  },
})

test.each<[string, object]>([
  ['of zod/mini, whose metadata cannot be read', mini.object({ a: mini.string() })],
  ['that contains itself', tree],
  ['that is made when it is used', z.object({ a: z.lazy(() => z.string()) })],
  ['of an author', z.object({ a: z.custom(() => true) })],
  ['with a bigint', z.object({ a: z.literal(1n) })],
  ['with a value for what is wrong', z.object({ a: z.string().catch(() => String(time++)) })],
  ['with a date as its default', z.object({ a: z.string().meta({ examples: [new Date(0)] }) })],
  ['that is no schema of zod', { type: 'object' }],
])('a schema %s has no key', (_, schema) => {
  expect(keyOf(schema)).toBeUndefined()
})

test('a default that is another one each time gives another key', () => {
  const build = () => z.object({ a: z.number().default(() => time++) })
  expect(keyOf(build())).not.toBe(keyOf(build()))
})

test.each<[string, boolean, () => z.ZodType]>([
  ['built alike shares its form', true, () => z.object({ a: z.int().optional(), b: z.enum(['x', 'y']) })],
  ['with a refinement has a form of its own', false, () => z.object({ a: z.string().refine(() => true) })],
  ['with a transform has a form of its own', false, () => z.object({ a: z.string().transform(Number) })],
  ['with a message has a form of its own', false, () => z.object({ a: z.string('Write a text') })],
  ['with a default has a form of its own', false, () => z.object({ a: z.string().default(() => 'x') })],
])('a schema %s', (_, isShared, build) => {
  const [first, second] = [formOf(build()), formOf(build())]
  expect(second.requestedSchema).toBe(first.requestedSchema)
  expect(second.check === first.check).toBe(isShared)
})

test('the answer is validated by the schema of its own run, with its closures', async () => {
  const build = (least: number) => z.object({ age: z.number().refine((age) => age >= least, `at least ${least}`) })
  const [first, second, third] = [formOf(build(1)), formOf(build(18)), formOf(build(65))]
  expect(second.requestedSchema).toBe(first.requestedSchema)
  expect(await third.check({ age: 20 })).toMatchObject({ issues: [{ path: '/age', message: 'at least 65' }] })
  expect(await second.check({ age: 20 })).toEqual({ value: { age: 20 } })
  expect(await second.check({ age: 17 })).toMatchObject({ issues: [{ message: 'at least 18' }] })
  expect(await first.check({ age: 17 })).toEqual({ value: { age: 17 } })
})

test('transforms and asynchronous checks of a schema that is built again run as they do the first time', async () => {
  const build = () =>
    z.object({
      name: z
        .string()
        .trim()
        .transform((text) => text.length),
      token: z.string().refine(async (text) => text !== 'taken', 'is taken'),
    })
  const forms = [formOf(build()), formOf(build())]
  for (const { check } of forms) {
    expect(await check({ name: ' Ada ', token: 'free' })).toEqual({ value: { name: 3, token: 'free' } })
    expect(await check({ name: 'Ada', token: 'taken' })).toMatchObject({ issues: [{ message: 'is taken' }] })
    expect(await check({ name: 1, token: 'free' })).toMatchObject({ issues: [{ path: '/name' }] })
  }
})

test('a check that throws rejects the answer with its error', async () => {
  const build = () =>
    z.object({
      a: z.string().refine(() => {
        throw new Error('the database is down')
      }),
    })
  for (const { check } of [formOf(build()), formOf(build())]) {
    await expect(async () => check({ a: 'x' })).rejects.toThrow('the database is down')
  }
})

test('an answer with more elements than one may have is rejected for a schema that is built again', async () => {
  const build = () => z.object({ picked: z.array(z.enum(['x', 'y'])) })
  formOf(build())
  const many = { picked: Array.from({ length: 20_000 }, () => 'z') }
  expect(await formOf(build()).check(many)).toMatchObject({ issues: [{ message: expect.stringContaining('10000') }] })
  const faults = { picked: Array.from({ length: 5000 }, () => 'z') }
  expect(await formOf(build()).check(faults)).toMatchObject({ issues: { length: 20 }, total: Infinity })
})

test('a question whose schema is built in every run is warned of once, after a hundred times', async () => {
  const run = async (ctx: Parameters<Parameters<typeof serve>[0]>[0]) => {
    const { rebuilt } = await ctx.elicit('rebuilt', { message: 'Again?', schema: z.object({ rebuilt: z.boolean() }) })
    return String(rebuilt)
  }
  const served = serve(run, { strictReplay: false }, toolKind)
  expect((await completeCall(served, { rebuilt: accept({ rebuilt: true }) })).text).toBe('true')
  expect(served.warnings).toEqual([])
  for (let round = 0; round < 200; round++) await send(served)
  expect(served.warnings).toMatchObject([{ code: 'rebuilt_form', message: expect.stringContaining('form(z.object') }])
})
