import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { measureRounds, medianOf, reportLines } from './alternating.ts'
import { print } from './ratios.ts'

/** The form of the calls: through `client.tools`, or through `callTool`, which checks neither names nor arguments. */
type CallForm = 'typed' | 'untyped'

/** The cost of compiling one program. The number of instantiations is the same in every run and on every machine. */
type CompileCost = Readonly<{ cpuSeconds: number; instantiations: number }>

/**
 * Measures the CPU time in which TypeScript checks 500 tools and 500 calls through `client.tools`, and the same calls
 * through `callTool`.
 *
 * Method: one process compiles both programs alternately, after one compilation of each as a warm-up, and prints the
 * medians. The tools have zod schemas for input and output. The packages are read from their built declarations. A test
 * limits the number of types that the compiler creates. Not measured: editors, and the emission of declarations.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const forms = [{ name: 'untyped' }, { name: 'typed' }] as const
  const all = await measureRounds(forms, quick ? 4 : 8, async ({ name }) => compileCalls(500, name))
  const rounds = all.slice(1)
  const seconds = { unit: 's CPU', of: ({ cpuSeconds }: CompileCost) => cpuSeconds, digits: 2 }
  const types = { unit: 'types', of: ({ instantiations }: CompileCost) => instantiations, digits: 0 }
  for (const line of reportLines(rounds, 'untyped', [seconds, types])) print(line)
  const [typed, untyped] = [medianOf(rounds, 'typed', seconds.of), medianOf(rounds, 'untyped', seconds.of)]
  print(`500 typed tools and calls take ${(typed - untyped).toFixed(2)} s more of at most 2 s`)
}

/** The path of the program. It is in the folder of this file, so that imports resolve. No file is written there. */
const path = fileURLToPath(new URL('./generated-program.ts', import.meta.url))

const options: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: ['node'],
  // Resolves the published declarations instead of the source.
  customConditions: ['dist'],
}

/** Compiles a server with many tools and a client that calls each of them. */
export function compileCalls(count: number, form: CallForm): CompileCost {
  const started = process.cpuUsage()
  const service = checkProgram(programOf(count, form))
  const { user, system } = process.cpuUsage(started)
  return { cpuSeconds: (user + system) / 1e6, instantiations: service.getProgram()?.getInstantiationCount() ?? 0 }
}

const clients = `
import type { TypesOf } from '@x/client'
export interface Api extends TypesOf<typeof server> {}
const host = { name: 'host', version: '1.0.0' }
export const byInterface = createClient<Api>(server.exchange, host)
export const byServer = createClient<typeof server>(server.exchange, host)
`

/**
 * Returns the hints that an editor shows for the last name of each expression. An expression can use two clients of a
 * server with many tools: `byInterface` has the types of the server from an interface, and `byServer` from `typeof`.
 */
export function readHints(count: number, expressions: readonly string[]): readonly string[] {
  let source = `${programOf(count, 'typed')}${clients}`
  const ends = expressions.map((expression, index) => {
    source += `export const hinted${index} = ${expression}\n`
    return source.length - 1
  })
  const service = checkProgram(source)
  return ends.map((end) => ts.displayPartsToString(service.getQuickInfoAtPosition(path, end)?.displayParts))
}

/**
 * Checks a program as an editor does.
 *
 * @throws Error with the compiler's first message when the program does not compile.
 */
function checkProgram(source: string): ts.LanguageService {
  const service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [path],
    getScriptVersion: () => '1',
    fileExists: (name) => name === path || ts.sys.fileExists(name),
    getScriptSnapshot: (name) => {
      const text = name === path ? source : ts.sys.readFile(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
  })
  const [problem] = [...service.getSyntacticDiagnostics(path), ...service.getSemanticDiagnostics(path)]
  if (problem !== undefined) throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, '\n'))
  return service
}

/** Returns the source of a server with many tools, and of a client that calls each of them. */
function programOf(count: number, form: CallForm): string {
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
