import { type BindingElement, type Identifier, Node, type ParameterDeclaration, SyntaxKind } from 'ts-morph'
import { type FunctionNode, usesOf } from './syntax.ts'

/** A use of the context of a request in a handler of the official SDK. */
export interface ContextUse {
  /** The expression, such as `extra.signal`, or `signal` where the parameter is destructured. */
  readonly node: Node
  /** The member of the context, such as `signal`. Undefined where the context itself is passed on. */
  readonly member: string | undefined
}

/** Finds the uses of the context in a handler. Version 2 has most members under `mcpReq`. */
export function contextUsesOf(parameter: ParameterDeclaration | undefined): readonly ContextUse[] {
  const name = parameter?.getNameNode()
  if (Node.isIdentifier(name)) return usesOf(name).map((use) => accessOf(use))
  if (!Node.isObjectBindingPattern(name)) return []
  return name.getElements().flatMap((element) => usesOfElement(element))
}

function accessOf(use: Node): ContextUse {
  const access = use.getParentIfKind(SyntaxKind.PropertyAccessExpression)
  if (access?.getExpression() !== use) return { node: use, member: undefined }
  return access.getName() === 'mcpReq' ? accessOf(access) : { node: access, member: access.getName() }
}

function usesOfElement(element: BindingElement): readonly ContextUse[] {
  const member = element.getPropertyNameNode()?.getText() ?? element.getName()
  const name = element.getNameNode()
  if (Node.isObjectBindingPattern(name)) return name.getElements().flatMap((inner) => usesOfElement(inner))
  return usesOf(name).map((use) => (member === 'mcpReq' ? accessOf(use) : { node: use, member }))
}

/** Returns the uses of a server inside a function. */
export function serverUsesIn(handler: FunctionNode, serverName: Identifier): readonly Node[] {
  const [start, end] = [handler.getStart(), handler.getEnd()]
  return usesOf(serverName).filter((use) => use.getStart() >= start && use.getEnd() <= end)
}
