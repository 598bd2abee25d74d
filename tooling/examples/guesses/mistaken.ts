import { prompt, tool } from '@x/server'
import * as z from 'zod'

// Mistakes of a first day: with each supported TypeScript version, the first line of the error names what is right.

const description = 'Greets a person'
const output = z.object({ count: z.number() })
const shape = { name: z.string() }

export const shapes = [
  tool('inline', { description, input: { name: z.string() }, run: () => '' }), // error: 'name' does not exist in type 'OneSchemaSuchAs<"z.object({ … })">'
  tool('variable', { description, input: shape, run: async () => '' }), // error: '{ name: z.ZodString; }' but required in type 'OneSchemaSuchAs<"z.object({ … })">'
  tool('output', { description, output: { count: z.number() }, run: async () => ({ count: 1 }) }), // error: 'count' does not exist in type 'OneSchemaSuchAs<"z.object({ … })">'
  prompt('prompt', { input: { name: z.string() }, run: () => '' }), // error: 'name' does not exist in type 'OneSchemaSuchAs<"z.object({ … })">'
]

export const results = [
  tool('number', { description, run: async () => 3 }), // error: 'Promise<number>' is not assignable to type 'Awaitable<ToolReturn<string | ToolContent>>'
  tool('nothing', { description, run: async () => {} }), // error: '() => Promise<void>' is not assignable to type
  tool('object', { description, run: async () => ({ count: 1 }) }), // error: 'Promise<{ count: number; }>' is not assignable to type 'Awaitable<ToolReturn<string | ToolContent>>'
  tool('text', { description, output, run: async () => 'one' }), // error: 'Promise<string>' is not assignable to type 'Awaitable<ToolReturn<{ count: number; }>>'
  tool('member', { description, output, run: async () => ({ count: 'one' }) }), // error: 'Promise<{ count: string; }>' is not assignable to type 'Awaitable<ToolReturn<{ count: number; }>>'
]

/** A function that does not know the type of the schema may still pass it on. */
export function guarded<Input extends z.ZodObject>(input: Input): unknown {
  return tool('guarded', { description, input, run: () => '' })
}
