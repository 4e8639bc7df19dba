import type { StageParameters } from '../framework.ts';

/** @returns a sentence that says what is wrong with the parameters of a stage; `undefined` when nothing is wrong */
export function findParameterProblem(
  parameters: StageParameters,
  stackName: string,
  region: string,
): string | undefined {
  const { domainName, certificateArn, hostedZoneId, requestsPerAddress, monitoringMinutes } = parameters;
  const { tableName, alarmEmail, monthlyBudget, listConcurrency, probe } = parameters;
  if (domainName === '' && (certificateArn !== '' || hostedZoneId !== '')) {
    return 'certificateArn and hostedZoneId need domainName.';
  }
  if (domainName !== '' && certificateArn === '') {
    return 'domainName needs certificateArn, a certificate for that name.';
  }
  if (domainName !== '' && certificateArn.split(':')[3] !== region) {
    return `certificateArn has to be a certificate in ${region}, the region of the stage.`;
  }
  // The smoke test sends 4,000 requests from one address, and the pipeline gives it ten minutes. The maximum is AWS WAF's.
  if (requestsPerAddress !== '' && !isWholeNumber(requestsPerAddress, 500, 2_000_000_000)) {
    return 'requestsPerAddress has to be a whole number of requests per minute, 500 or more, or the smoke test takes too long.';
  }
  // The pipeline's credentials are valid for an hour, in which a smoke test and a rollback follow.
  if (!isWholeNumber(monitoringMinutes, 0, 30)) {
    return 'monitoringMinutes has to be a whole number of minutes, 0 to 30.';
  }
  if (monthlyBudget !== '' && !(isWholeNumber(monthlyBudget, 1, 1_000_000) && alarmEmail !== '')) {
    return 'monthlyBudget has to be a whole number of US dollars, and needs alarmEmail.';
  }
  if (listConcurrency !== '' && !isWholeNumber(listConcurrency, 1, 1_000)) {
    return 'listConcurrency has to be a whole number of instances, 1 to 1000.';
  }
  if (probe !== '' && probe !== 'on') return 'probe has to be "on", or unset.';
  // The permissions boundary allows these.
  if (tableName !== '' && !tableName.startsWith(`${stackName}-`)) {
    return `tableName has to begin with ${stackName}-, or to be unset.`;
  }
  return undefined;
}

function isWholeNumber(value: string | number, min: number, max: number): boolean {
  return /^\d+$/.test(String(value)) && Number(value) >= min && Number(value) <= max;
}
