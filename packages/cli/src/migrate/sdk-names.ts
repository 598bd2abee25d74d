import type { ImportDeclaration, SourceFile } from 'ts-morph'

/** Returns true for a module of the official SDK, version 1 or 2. */
export function isSdkModule(module: string): boolean {
  return /^@modelcontextprotocol\/(sdk|server|client|node|core|express|hono|fastify)(\/|$)/.test(module)
}

/** The imports of the official SDK in a file. */
export function sdkImportsOf(source: SourceFile): readonly ImportDeclaration[] {
  return source.getImportDeclarations().filter((one) => isSdkModule(one.getModuleSpecifierValue()))
}

/** Returns what the names of a file mean in the official SDK. */
export function readSdkNames(source: SourceFile): ReadonlyMap<string, string> {
  const names = sdkImportsOf(source)
    .flatMap((one) => one.getNamedImports())
    .map((one) => [one.getAliasNode()?.getText() ?? one.getName(), one.getName()] as const)
  return new Map(names)
}
