import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

/** A resource of a CloudFormation template. */
export interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: each type of resource has a shape of its own
  readonly Properties: any;
  readonly DependsOn?: string | string[];
  readonly Condition?: string;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** A CloudFormation template. */
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Parameters: Readonly<Record<string, { readonly Default: string }>>;
  readonly Outputs: Readonly<Record<string, unknown>>;
}

/**
 * Reads the template that was packaged for a stage, as text.
 *
 * @param stage - `prod`, `dev` or `dev-with-all`
 */
export function readTemplateText(stage: string): string {
  return readFileSync(
    join(inject('packagesFolder'), stage, 'cloudformation-template-update-stack.json'),
    'utf8',
  );
}

/**
 * Reads the template that was packaged for a stage.
 *
 * @param stage - `prod`, `dev` or `dev-with-all`
 */
export function readTemplate(stage = 'prod'): Template {
  return JSON.parse(readTemplateText(stage)) as Template;
}

/**
 * Finds the resources of a type, by their logical ids.
 *
 * @param template - where to look
 * @param type - for example `AWS::Lambda::Function`
 */
export function findResources({ Resources }: Template, type: string): Readonly<Record<string, Resource>> {
  return Object.fromEntries(Object.entries(Resources).filter(([, resource]) => resource.Type === type));
}

/**
 * Finds the only resource of a type.
 *
 * @param template - where to look
 * @param type - for example `AWS::DynamoDB::Table`
 * @throws an Error when there is none, or more than one
 */
export function findOnly(template: Template, type: string): Resource {
  const [resource, ...others] = Object.values(findResources(template, type));
  if (resource === undefined || others.length > 0) throw new Error(`expected one resource of type ${type}`);
  return resource;
}
