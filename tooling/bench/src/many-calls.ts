import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** The form of the calls: through `client.tools`, or through `callTool`. */
export type CallForm = 'typed' | 'untyped'

/** The cost of compiling one program. */
export interface CompileCost {
  readonly cpuSeconds: number
  /** The instantiations of generic types. The number is the same in every run and on every machine. */
  readonly instantiations: number
}

/** The path of the program. It is in the folder of this file, so that imports resolve. No file is written there. */
export const path = fileURLToPath(new URL('./generated-program.ts', import.meta.url))

/** The compiler options of the program. */
export const options: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: ['node'],
  // Resolves the published declarations instead of the source.
  customConditions: ['dist'],
}

/**
 * Compiles a server with many tools and a client that calls each of them: through `client.tools`, or through
 * `callTool`, which checks neither names nor arguments.
 *
 * @throws Error with the compiler's first message when the program does not compile.
 */
export function compileCalls(count: number, form: CallForm): CompileCost {
  const source = programOf(count, form)
  const host = ts.createCompilerHost(options)
  const read = host.getSourceFile.bind(host)
  const started = process.cpuUsage()
  const program = ts.createProgram([path], options, {
    ...host,
    fileExists: (name) => name === path || host.fileExists(name),
    getSourceFile: (name, version, ...rest) =>
      name === path ? ts.createSourceFile(name, source, version) : read(name, version, ...rest),
  })
  const [problem] = ts.getPreEmitDiagnostics(program)
  if (problem !== undefined) throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, '\n'))
  const { user, system } = process.cpuUsage(started)
  return { cpuSeconds: (user + system) / 1e6, instantiations: program.getInstantiationCount() }
}

/** Returns the source of a server with many tools, and of a client that calls each of them. */
export function programOf(count: number, form: CallForm): string {
  const numbers = Array.from({ length: count }, (_, index) => index)
  const tools = numbers.map(
    (number) => `const tool${number} = tool('tool_${number}', {
  description: 'A tool',
  input: z.object({ name${number}: z.string(), count: z.number().optional(), tags: z.array(z.string()) }),
  output: z.object({ text${number}: z.string(), total: z.number() }),
  run: ({ name${number}, tags }) => ({ text${number}: name${number}, total: tags.length }),
})`,
  )
  const calls = numbers.map((number) => {
    const args = `{ name${number}: 'a', tags: [] }`
    return form === 'typed'
      ? `  total += (await client.tools.tool_${number}(${args})).structuredContent?.text${number}.length ?? 0`
      : `  total += (await client.callTool('tool_${number}', ${args})).content.length`
  })
  return `import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import * as z from 'zod'

${tools.join('\n')}
export const server = createServer({ name: 'many', version: '1.0.0', tools: [${numbers.map((number) => `tool${number}`).join(', ')}] })

export async function callAll(): Promise<number> {
  const client = createClient${form === 'typed' ? '<typeof server>' : ''}(server.exchange, { name: 'host', version: '1.0.0' })
  let total = 0
${calls.join('\n')}
  return total
}
`
}
