import { Node, type SourceFile } from 'ts-morph'
import { Edits } from './edits.ts'
import { type Guide, guideOf } from './guides.ts'
import { readSdkNames } from './sdk-names.ts'
import { isMemberName } from './syntax.ts'

/** A place that the author has to rewrite. */
export interface Remaining {
  /** The position in the source. */
  readonly position: number
  /** One sentence that says what to write. */
  readonly message: string
  /** The address of the section that explains it. */
  readonly guide: string
}

/** The work on one file: its changes, the imports that they need, and what is left to the author. */
export interface Rewriting {
  readonly source: SourceFile
  readonly edits: Edits
  readonly remaining: Remaining[]
  /** The names that the file imports from the official SDK: the local name, and the name in the SDK. */
  readonly sdkNames: ReadonlyMap<string, string>
  /** The imports that the new code needs: the module of each name. */
  readonly imports: Map<string, string>
  /** All identifiers in the file, so that a new name hides none of them. */
  readonly takenNames: Set<string>
}

/** Starts the work on a file. */
export function createRewriting(source: SourceFile): Rewriting {
  const takenNames = new Set<string>()
  source.forEachDescendant((node) => {
    if (Node.isIdentifier(node) && !isMemberName(node)) takenNames.add(node.getText())
  })
  return {
    source,
    edits: new Edits(source.getFullText()),
    remaining: [],
    sdkNames: readSdkNames(source),
    imports: new Map(),
    takenNames,
  }
}

/** Starts a part of the work, whose changes count only if {@link finishPart} finds that nothing is left of it. */
export function startPart(rewriting: Rewriting): Rewriting {
  const { source, takenNames } = rewriting
  return {
    ...rewriting,
    edits: new Edits(source.getFullText()),
    remaining: [],
    imports: new Map(),
    takenNames: new Set(takenNames),
  }
}

/** Adds the changes of a part. Returns false, and adds its remaining places alone, where it could not be rewritten. */
export function finishPart(rewriting: Rewriting, part: Rewriting, succeeded: boolean): boolean {
  rewriting.remaining.push(...part.remaining)
  if (!succeeded) return false
  rewriting.edits.merge(part.edits)
  for (const [name, module] of part.imports) rewriting.imports.set(name, module)
  for (const name of part.takenNames) rewriting.takenNames.add(name)
  return true
}

/** Leaves a place to the author. */
export function leave(rewriting: Rewriting, node: Node, message: string, guide: Guide): void {
  const position = node.getStart()
  const isKnown = rewriting.remaining.some((one) => one.position === position && one.message === message)
  if (!isKnown) rewriting.remaining.push({ position, message, guide: guideOf(guide) })
}

/** Replaces a node. */
export function replaceNode(rewriting: Rewriting, node: Node, text: string): void {
  if (node.getText() !== text) rewriting.edits.replace(node.getStart(), node.getEnd(), text)
}

/** Returns the text of a node with the changes inside it. */
export function newTextOf(rewriting: Rewriting, node: Node): string {
  return rewriting.edits.textOf(node.getStart(), node.getEnd())
}

const aliases: Readonly<Record<string, string>> = {
  createServer: 'createMcpServer',
  tool: 'defineTool',
  prompt: 'definePrompt',
  resource: 'defineResource',
  resourceTemplate: 'defineResourceTemplate',
}

/** Adds an import, and returns the name by which the file uses it. The file may have another thing of that name. */
export function useImport(rewriting: Rewriting, module: string, name: string): string {
  const hidden = rewriting.takenNames.has(name) && !rewriting.sdkNames.has(name)
  const local = hidden ? aliases[name] : undefined
  rewriting.imports.set(local === undefined ? name : `${name} as ${local}`, module)
  return local ?? name
}

/** Returns a new name for a constant, from the name that clients see. */
export function nameConstant({ takenNames }: Rewriting, name: string, kind: string): string {
  const words = name.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '')
  const joined = words.map((word, index) => (index === 0 ? lowerFirst(word) : upperFirst(word))).join('')
  const isName = /^[a-z]/.test(joined) && !reservedWords.has(joined)
  const first = isName ? joined : `${kind}${upperFirst(joined)}`
  const candidates = [first, `${first}${upperFirst(kind)}`]
  let found = candidates.find((candidate) => !takenNames.has(candidate))
  for (let count = 2; found === undefined; count += 1) {
    const candidate = `${first}${upperFirst(kind)}${count}`
    if (!takenNames.has(candidate)) found = candidate
  }
  takenNames.add(found)
  return found
}

const reservedWords: ReadonlySet<string> = new Set(
  (
    'await break case catch class const continue debugger default delete do else enum export extends false finally ' +
    'for function if implements import in instanceof interface let new null package private protected public return ' +
    'static super switch this throw true try typeof undefined var void while with yield arguments eval ' +
    'tool prompt resource resourceTemplate createServer serveHttp serveStdio nodeHandler legacy toolResult'
  ).split(' '),
)

function lowerFirst(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1)
}

function upperFirst(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
