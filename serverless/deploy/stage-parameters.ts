import type { StageParameters } from '../framework.ts';

/** The parameters that are numbers: unit, minimum and maximum. */
const numbers = {
  // The pipeline gives the smoke test ten minutes for 4,000 requests from one address. The maximum is AWS WAF's.
  requestsPerAddress: ['requests per minute', 500, 2_000_000_000],
  // Within the hour of its credentials, the pipeline also needs time for a smoke test and a rollback.
  monitoringMinutes: ['minutes', 0, 30],
  monthlyBudget: ['US dollars', 1, 1_000_000],
  listConcurrency: ['instances', 1, 1_000],
} as const;

/** @returns a sentence that says what is wrong with the parameters of a stage, or `undefined` */
export function findParameterProblem(
  parameters: StageParameters,
  stackName: string,
  region: string,
): string | undefined {
  const { domainName, certificateArn, hostedZoneId, tableName, alarmEmail, monthlyBudget, probe } = parameters;
  for (const [name, [unit, min, max]] of Object.entries(numbers)) {
    const value = String(parameters[name as keyof typeof numbers]);
    const isInRange = /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max;
    if (value !== '' && !isInRange) return `${name} has to be a whole number of ${unit}, ${min} to ${max}.`;
  }
  // Each sentence, and whether it applies.
  const problems: Readonly<Record<string, boolean>> = {
    'certificateArn and hostedZoneId need domainName.': domainName === '' && certificateArn + hostedZoneId !== '',
    [`domainName needs certificateArn, a certificate in ${region}, the region of the stage.`]:
      domainName !== '' && certificateArn.split(':')[3] !== region,
    'monthlyBudget needs alarmEmail.': monthlyBudget !== '' && alarmEmail === '',
    'probe has to be "on", or unset.': probe !== '' && probe !== 'on',
    // The permissions boundary allows no other tables.
    [`tableName has to begin with ${stackName}-, or to be unset.`]:
      tableName !== '' && !tableName.startsWith(`${stackName}-`),
  };
  return Object.keys(problems).find((problem) => problems[problem]);
}
