import { Node, SyntaxKind } from 'ts-morph'
import { type Rewriting, useImport } from './rewriting.ts'
import type { FunctionNode } from './syntax.ts'

/** Wraps the results of a handler with an output schema in `toolResult`, which takes results of the protocol. */
export function wrapReturns(rewriting: Rewriting, handler: FunctionNode): void {
  const body = handler.getBody()
  const results = Node.isBlock(body)
    ? handler
        .getDescendantsOfKind(SyntaxKind.ReturnStatement)
        .filter((one) => one.getFirstAncestor((node) => Node.isFunctionLikeDeclaration(node)) === handler)
        .map((one) => one.getExpression())
    : [body]
  for (const result of results) {
    if (result === undefined) continue
    const wrap = useImport(rewriting, '@x/server', 'toolResult')
    const isInParentheses = Node.isParenthesizedExpression(result)
    rewriting.edits.insert(result.getStart(), isInParentheses ? wrap : `${wrap}(`)
    if (!isInParentheses) rewriting.edits.insert(result.getEnd(), ')')
  }
}
