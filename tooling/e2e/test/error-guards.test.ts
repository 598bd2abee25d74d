import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const packages = new URL('../../../packages/', import.meta.url)

/** The values that each entry of each package exports, from its source. */
const entries = await Promise.all(
  readdirSync(packages)
    .map((folder) => [folder, JSON.parse(readFileSync(new URL(`${folder}/package.json`, packages), 'utf8'))] as const)
    .flatMap(([folder, { name, exports }]) =>
      Object.keys(exports)
        // An entry without a published file is for the workspace alone.
        .filter((entry) => exports[entry].default !== undefined)
        .map((entry) => [`${name}${entry.slice(1)}`, `${folder}/${exports[entry].default}`] as const),
    )
    .map(async ([specifier, path]): Promise<[string, Record<string, unknown>]> => {
      return [specifier, await import(/* @vite-ignore */ new URL(path, packages).href)]
    }),
)

const errorClasses = entries.flatMap(([specifier, exported]) =>
  Object.entries(exported)
    .filter(([, value]) => typeof value === 'function' && value.prototype instanceof Error)
    .map(([name]) => [name, specifier, exported[`is${name}`]] as const),
)

test.each(errorClasses)('%s of %s has a guard beside it, which rejects other errors', (_name, _specifier, guard) => {
  expect(guard).toBeTypeOf('function')
  expect([new Error('another'), undefined].map((value) => Reflect.apply(Object(guard), undefined, [value]))).toEqual([
    false,
    false,
  ])
})

test('the errors by which authors steer a call have a guard', async () => {
  const { InputDeclined, isInputDeclined, isSuspension, isToolError, ToolError } = await import('@x/server')
  expect(isInputDeclined(new InputDeclined('sure', 'decline'))).toBe(true)
  expect(isInputDeclined(Object.assign(new Error('a copy'), { ...new InputDeclined('sure', 'cancel') }))).toBe(true)
  expect([isToolError(new ToolError('no')), isSuspension(new ToolError('no'))]).toEqual([true, false])
})
